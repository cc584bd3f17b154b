package reach

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"driftscope/internal/flow/config"
)

// Makers has constructors for the stages of a configuration, and the kinds that they accept.
type Makers struct {
	Source, Sink, Step                Make
	SourceKinds, SinkKinds, StepKinds []string
}

// Allowed holds the rights that a worker gives to submitted configurations, besides each stream's folder.
type Allowed struct {
	makers    Makers
	said      []string // values of --allow
	kinds     map[string]bool
	folders   []string // with links resolved
	addresses []*url.URL
}

// Allow reads the values of --allow: kinds of source and sink, folders, and addresses such as rtsp://10.0.0.7.
func Allow(said []string, makers Makers) (*Allowed, error) {
	a := &Allowed{makers: makers, said: said, kinds: map[string]bool{}}
	grantable, err := makers.grantable()
	if err != nil {
		return nil, err
	}
	for _, s := range said {
		u, err := url.Parse(s)
		switch {
		case slices.Contains(grantable, s):
			a.kinds[s] = true
		case err == nil && u.Scheme != "" && u.Host != "" && strings.Trim(u.Path, "/") == "" && u.User == nil:
			a.addresses = append(a.addresses, u)
		case filepath.IsAbs(s) || strings.HasPrefix(s, "."):
			folder, err := filepath.Abs(s)
			if err == nil {
				folder, err = filepath.EvalSymlinks(folder)
			}
			if info, failed := os.Stat(folder); err == nil && (failed != nil || !info.IsDir()) {
				err = errors.Join(failed, errors.New("it is not a folder"))
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w: give an existing folder", s, err)
			}
			a.folders = append(a.folders, folder)
		default:
			return nil, fmt.Errorf("found %.80q, expected a folder such as /data, an address such as rtsp://10.0.0.7, or one of %s", s, strings.Join(grantable, ", "))
		}
	}
	return a, nil
}

// grantable lists the kinds that run only if --allow names them.
func (m *Makers) grantable() ([]string, error) {
	found := map[string]bool{}
	for _, of := range []struct {
		make  Make
		kinds []string
	}{{m.Source, m.SourceKinds}, {m.Sink, m.SinkKinds}} {
		for _, kind := range of.kinds {
			all, err := declared(kind, of.make)
			if err != nil {
				return nil, err
			}
			if slices.Contains(all, device) || slices.Contains(all, program) || slices.Contains(all, address) {
				found[kind] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// refusal returns the error of an option that is not allowed.
func (a *Allowed) refusal(key, found, why, grant string) error {
	allows := strings.Join(append([]string{"the stream's own folder"}, a.said...), ", ")
	return fmt.Errorf("%s: found %s, %s; this worker allows %s: start it with --allow %s, or have another worker run the stream", key, found, why, allows, grant)
}

// Hold checks a configuration and returns it with resolved paths. folder is the stream's own folder: relative paths start there, and Hold creates it if a
// path needs it. shown is the configuration before its secrets were inserted, for messages. The error joins all refusals.
func (a *Allowed) Hold(cfg, shown config.Config, folder string) (config.Config, error) {
	h := &holding{allowed: a, folder: folder}
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	var err error
	cfg.Source, err = h.component("source", cfg.Source, shown.Source, a.makers.Source)
	note(err)
	cfg.Sinks = slices.Clone(cfg.Sinks)
	for i := range cfg.Sinks {
		cfg.Sinks[i], err = h.component(fmt.Sprintf("sinks[%d]", i), cfg.Sinks[i], shown.Sinks[i], a.makers.Sink)
		note(err)
	}
	for i, step := range cfg.Preprocess {
		_, err := h.component(fmt.Sprintf("preprocess[%d]", i), step, shown.Preprocess[i], a.makers.Step)
		note(err)
	}
	if cfg.Record.Path != "" {
		cfg.Record.Path, err = h.path("record.path", cfg.Record.Path)
		note(err)
	}
	if m := cfg.Model; m != "" && !strings.HasPrefix(m, ServerModel) && !strings.HasPrefix(m, EmbeddedModel) {
		cfg.Model, err = h.path("model", m)
		note(err)
	}
	return cfg, errors.Join(errs...)
}

// Path resolves a path, and refuses one outside the allowed folders.
func (a *Allowed) Path(key, path string) (string, error) {
	return (&holding{allowed: a}).path(key, path)
}

// holding is the check of one configuration.
type holding struct {
	allowed *Allowed
	folder  string // the stream's own folder; empty if it has none
}

// component checks a source, a sink or a step, and returns it with resolved paths.
func (h *holding) component(key string, c, shown config.Component, of Make) (config.Component, error) {
	key += "." + c.Kind
	as, told, err := options(shown, of)
	if err != nil {
		return c, err
	}
	if !told && !strings.HasPrefix(key, "preprocess") {
		return c, fmt.Errorf("%s: this build does not say what it reaches, so no worker runs it for others", key)
	}
	if err := secretsIn(key, c, shown, as); err != nil {
		return c, err
	}
	values := map[string]string{}
	for _, r := range as {
		values[r.key] = r.value
	}
	all, _, err := options(c, of)
	if err != nil {
		return c, err
	}
	if h.allowed.kinds[c.Kind] {
		all = slices.DeleteFunc(all, func(r reached) bool { return r.what != read && r.what != write })
	}
	var errs []error
	for _, r := range all {
		switch r.what {
		case read, write:
			path, err := h.path(key+"."+r.key, r.value)
			if err == nil {
				c, err = c.With(r.key, path)
			}
			errs = append(errs, err)
		case address:
			errs = append(errs, h.address(key+"."+r.key, c.Kind, r.value, values[r.key]))
		case device, program:
			errs = append(errs, h.allowed.refusal(key+"."+r.key, fmt.Sprintf("%.80q", values[r.key]), "a "+r.what+" of this machine", c.Kind))
		default:
			errs = append(errs, fmt.Errorf("%s.%s: this build does not say what it reaches, so no worker runs it for others", key, r.key))
		}
	}
	return c, errors.Join(errs...)
}

// secretsIn refuses a secret in an option that needs none, because messages repeat names and paths.
func secretsIn(key string, c, shown config.Component, all []reached) error {
	as := shown.Options()
	for option, value := range c.Options() {
		takes := slices.ContainsFunc(all, func(r reached) bool {
			return r.key == option && (r.what == address || r.what == program || r.what == device)
		})
		if !takes && fmt.Sprint(value) != fmt.Sprint(as[option]) {
			return fmt.Errorf("%s.%s: found %.80q, expected no secret: give it in the address or the pipeline of a camera", key, option, fmt.Sprint(as[option]))
		}
	}
	return nil
}

// path resolves a path, and refuses one outside the stream's folder and the allowed ones.
func (h *holding) path(key, path string) (string, error) {
	folders := h.allowed.folders
	own := ""
	if h.folder != "" {
		err := os.MkdirAll(h.folder, 0o700)
		if err == nil {
			own, err = filepath.EvalSymlinks(h.folder)
		}
		if err != nil {
			return path, fmt.Errorf("--store: %w: give a folder that can be written", err)
		}
		folders = append([]string{own}, folders...)
	}
	real, err := resolved(own, path)
	if err != nil {
		return path, fmt.Errorf("%s: found %.80q: %w", key, path, err)
	}
	if slices.ContainsFunc(folders, func(f string) bool { return within(f, real) }) {
		return real, nil
	}
	grant := filepath.Dir(real)
	if info, err := os.Stat(real); err == nil && info.IsDir() {
		grant = real
	}
	return path, h.allowed.refusal(key, fmt.Sprintf("%.80q", path), "or "+real+" on this machine", grant)
}

// address refuses an address that is not allowed, also in a list with commas.
func (h *holding) address(key, kind, value, shown string) error {
	for one := range strings.SplitSeq(value, ",") {
		if !strings.Contains(one, "://") {
			one = kind + "://" + one
		}
		u, err := url.Parse(one)
		if err != nil || !slices.ContainsFunc(h.allowed.addresses, func(a *url.URL) bool {
			return strings.EqualFold(a.Scheme, u.Scheme) && strings.EqualFold(a.Hostname(), u.Hostname()) && (a.Port() == "" || a.Port() == u.Port())
		}) {
			grant := kind
			if value == shown && err == nil && u.Host != "" && !strings.Contains(value, ",") {
				grant = u.Scheme + "://" + u.Host
			}
			return h.allowed.refusal(key, fmt.Sprintf("%.80q", shown), "an address that this worker does not allow", grant)
		}
	}
	return nil
}
