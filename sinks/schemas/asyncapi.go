package main

import (
	"fmt"
	"strings"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/natsink"
)

// asyncAPI returns the whole interface on NATS, publications and answers, as one AsyncAPI 3 document.
func asyncAPI() object {
	channels, operations, carried := object{}, object{}, object{}
	for _, m := range messages {
		carried[m.kind] = object{"name": m.kind, "summary": m.is, "contentType": "application/json", "payload": object{"$ref": "./" + m.kind + ".schema.json"}}
		if m.kind == "info" {
			continue
		}
		publish := func(name, token, is string) {
			channels[name] = channel(token, is, m.kind)
			operations["send_"+name] = object{"action": "send", "channel": ref("channels", name), "summary": is}
		}
		publish(m.kind, m.kind, m.is)
		if m.kind == "latent" {
			channels["glance"] = channel(natsink.SampledToken, "for the eye: the newest latent, 30 times a second at most, live only", m.kind)
			operations["send_glance"] = object{"action": "send", "channel": ref("channels", "glance"), "summary": "the newest latent, 30 times a second at most"}
		}
		switch m.kind {
		case "latent", "sde", "event", "trigger", "objects", "track", "population":
			publish("kept_"+m.kind, "kept."+m.kind, "with nats.durable: the same, kept in a JetStream stream")
		}
	}
	carried["empty"] = object{"summary": "no payload"}
	carried["corner"] = object{"contentType": "application/json", "payload": object{"$ref": "./roi.schema.json"}}
	carried["follow"] = object{"contentType": "application/json", "payload": object{"$ref": "./follow.schema.json"}}
	carried["model"] = object{"contentType": "application/json", "payload": object{"$ref": "./model.schema.json"}}
	carried["start"] = object{"contentType": "application/json", "payload": object{"$ref": "./start.schema.json"}}
	carried["snapshot"] = object{"contentType": "application/json", "summary": "the last message of every kind, each under its kind", "payload": object{"type": "object"}}
	carried["answer"] = object{"contentType": "text/plain", "summary": "ok, or why not and what to do",
		"headers": object{"type": "object", "properties": object{
			"Nats-Service-Error-Code": object{"type": "string", "enum": codes(), "description": "where the command was refused"},
			"Nats-Service-Error":      object{"type": "string", "description": "the same text"},
		}}}
	for _, c := range append([]struct{ Name, Does string }{
		{"info", "what runs"}, {"stats", "the last health message"}, {"snapshot", "the last message of every kind"},
	}, latent.Applied()...) {
		request, answer := "empty", "answer"
		switch c.Name {
		case "roi":
			request = "corner"
		case "follow":
			request = "follow"
		case "model":
			request = "model"
		case "start":
			request = "start"
		case "info", "snapshot":
			answer = c.Name
		case "stats":
			answer = "health"
		}
		command{c.Name, c.Does, request, answer}.add(channels, operations)
	}
	return object{
		"asyncapi": "3.0.0", "defaultContentType": "application/json",
		"info": object{
			"title": "Driftscope", "version": fmt.Sprintf("%d.0.0", latent.Version),
			"description": "Latent coordinates of a microscope's feed and their law of motion, on NATS. Fields are added, never renamed or removed.",
		},
		"servers":  object{"nats": object{"host": "127.0.0.1:4222", "protocol": "nats"}},
		"channels": channels, "operations": operations, "components": object{"messages": carried},
	}
}

// channel describes one subject of a stream.
func channel(token, is string, messages ...string) object {
	carried := object{}
	for _, m := range messages {
		carried[m] = ref("components", "messages", m)
	}
	return object{
		"address": "{prefix}.{site}.{stream}." + token, "description": is, "messages": carried,
		"parameters": object{
			"prefix": object{"description": "nats.prefix", "default": "driftscope"}, "site": object{"description": "nats.site", "default": "local"},
			"stream": object{"description": "the stream's name"},
		},
	}
}

// command describes a request and its answer by the names of their messages.
type command struct{ name, does, request, answer string }

// add adds the two subjects and their operations.
func (c command) add(channels, operations object) {
	in, out := "cmd_"+c.name, "cmd_"+c.name+"_answer"
	channels[in] = channel("cmd."+c.name, c.does, c.request)
	carried := object{"answer": ref("components", "messages", "answer"), c.answer: ref("components", "messages", c.answer)}
	channels[out] = object{"address": nil, "description": "on the request's reply subject", "messages": carried}
	operations["receive_"+in] = object{
		"action": "receive", "channel": ref("channels", in), "summary": c.does, "reply": object{"channel": ref("channels", out)},
	}
}

func ref(path ...string) object { return object{"$ref": "#/" + strings.Join(path, "/")} }

// codes lists the codes of refusals.
func codes() (list []string) {
	for _, code := range []int{latent.Malformed, latent.Unknown, latent.Conflict, latent.NotNow} {
		list = append(list, fmt.Sprint(code))
	}
	return list
}
