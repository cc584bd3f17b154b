//go:build !cgo

package demo

const welcome = `Driftscope watches a microscope's feed and says what moves, by which law, and when the law changes.
This build is for the microscope's PC: it sends frames to a computer that tracks them, and shows what comes back.

  driftscope probe FOLDER               what is in a recording of yours
  driftscope publish FOLDER --follow --subject camera.NAME --url nats://HOST:4222
                                        send it while it is written; there, driftscope run nats:camera.NAME
  driftscope watch --nats nats://HOST:4222
                                        what the run says
  driftscope --help                     every command; COMMAND --help says its flags

First steps: docs/howto/desk.md
`
