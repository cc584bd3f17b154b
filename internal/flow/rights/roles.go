package rights

// Role is a user of a configuration, or a kind of connection to the embedded server.
type Role struct {
	Name    string // the user
	Account string // account of the user; empty on the embedded server
	Doors   []Door
	Does    string // description for users

	puts  []string // further subjects to publish to: answers
	hears []string // further subjects to subscribe to: inboxes
	cells Cells
}

// Account is an account in a configuration.
type Account struct {
	Name  string
	About string
	Store string // its JetStream block; empty if none
	Open  bool   // exports to every account of the server, so another microscope needs no entry here
}

// Server is a kind of server with its roles.
type Server struct {
	File     string // path within configs; empty for the embedded server
	Site     string // the second token of subjects, or *
	Home     func(Class) string
	Accounts []Account
	Roles    []Role
}

// inbox is the pattern of subjects on which client libraries wait for answers.
var inbox = []string{"_INBOX.>"}

// embedded is the table for the embedded server. Without nats.token every program of this machine has the role program. With it, programs must send the token,
// and so must pages.
const embedded = `
               program  page  page-looks
results        *        h     h
plate          *        h     h
populations    *        h     h
kept           *        -     -
questions      *        p     p
commands       *        p     -
services       *        -     -
frames         *        -     -
others' frames *        -     -
laws           *        -     -
orders         *        -     -
leases         *        -     -
workers        *        -     -
films          *        -     -
models         *        -     -
`

// instrument is the table for configs/nats-server.conf.
const instrument = `
               driftscope viewer operator reader models camera pool
results        p          h      h        -      -      -      -
plate          p          h      h        -      -      -      ph
populations    p          h      h        -      -      -      h
kept           plrcmeu    -      -        lr     -      -      -
questions      ph         p      p        -      -      -      -
commands       ph         -      p        -      -      -      -
services       hd         p      p        -      -      -      -
frames         hlrcmeud   -      -        lr     -      plr    -
others' frames hlrcmeud   -      -        lr     -      p      -
laws           plrcmeu    -      -        lr     -      -      -
orders         plrcmeu    -      -        lr     -      -      -
leases         plrcmeu    -      -        lr     -      -      -
workers        plrcmeu    -      -        lr     -      -      -
films          plrcmeu    -      -        lr     -      -      -
models         r          -      -        -      *      -      -
`

// site is the table for configs/site. A role that may create consumers in the account HALL can read every subject of HALL.
const site = `
               hall_worker hall_admin hall_operator hall_viewer hall_bead
results        p           *          h             h           -
plate          p           *          h             h           -
populations    p           *          h             h           -
kept           plrc        *          -             -           -
questions      hd          *          p             p           -
commands       hd          *          p             -           -
services       hd          *          p             -           -
frames         hlrcd       *          -             -           plr 
others' frames hlrcd       *          -             -           -
laws           plrc        *          -             -           -
orders         lrcd        *          plr           lr          -
leases         plrc        *          lr            lr          -
workers        plrc        *          lr            lr          -
films          plrc        *          -             -           -
models         lrcd        *          plre          -           -
`

// Embedded returns the embedded server of a run.
func Embedded() *Server {
	return &Server{Site: "*", Home: func(Class) string { return "" }, Roles: given(embedded, []Role{
		{Name: "program", Doors: []Door{TCP, MQTT}, Does: "any program of this machine; with `nats.token`, any program that gives it"},
		{Name: "page", Doors: []Door{WebSocket}, Does: "a page of the dashboard", hears: inbox},
		{Name: "page-looks", Doors: []Door{WebSocket}, Does: "a page of the dashboard with `commands: false`", hears: inbox},
	})}
}

// Instrument returns the server of configs/nats-server.conf.
func Instrument() *Server {
	return &Server{File: "nats-server.conf", Site: "*",
		Home: func(c Class) string {
			if c.Name == "models" {
				return "MODELS"
			}
			return "INSTRUMENT"
		},
		Accounts: []Account{
			{Name: "INSTRUMENT", Store: "enabled"},
			{Name: "CAMERAS", About: "Frames are requests: answers go back to this account and to no subject of INSTRUMENT."},
			{Name: "READERS", About: "Nothing listens here: an answer reaches readers only."},
			{Name: "MODELS", Store: "enabled"},
		},
		Roles: given(instrument, []Role{
			{Name: "driftscope", Account: "INSTRUMENT", Doors: []Door{TCP}, Does: "the program at the instrument: publishes, keeps, and answers", puts: []string{"_INBOX.>", "_INBOX_operator.>"}, hears: []string{"_INBOX.>", "_INBOX_driftscope.>"}},
			{Name: "viewer", Account: "INSTRUMENT", Doors: []Door{TCP, WebSocket}, Does: "sees everything, changes nothing", hears: []string{"driftscope.>", "_INBOX.>"}},
			{Name: "operator", Account: "INSTRUMENT", Doors: []Door{TCP, WebSocket}, Does: "a viewer that also commands", hears: []string{"driftscope.>", "_INBOX.>", "_INBOX_operator.>"}},
			{Name: "reader", Account: "READERS", Doors: []Door{TCP}, Does: "reads kept results and KV", hears: inbox},
			{Name: "models", Account: "MODELS", Doors: []Door{TCP}, Does: "keeps models: driftscope model put", hears: inbox},
			{Name: "camera", Account: "CAMERAS", Doors: []Door{TCP}, Does: "publishes frames for run nats:camera.NAME, with confirmations on camera.bead", hears: inbox},
			{Name: "pool", Account: "INSTRUMENT", Doors: []Door{TCP}, Does: "driftscope pool --name plate: one law of several cameras. Each experiment needs its own user"},
		})}
}

// Site returns the server of configs/site.
func Site() *Server {
	return &Server{File: "site/hall.conf", Site: "local", Home: func(Class) string { return "HALL" },
		Accounts: []Account{
			{Name: "HALL", Open: true, Store: `{ # of the servers' store, every replica counted, so that one site cannot fill it
    max_file: 1000GB
    max_mem: 1GB
    max_streams: 1000
    max_consumers: 10000
  }`},
			{Name: "HALL_OPERATORS"},
			{Name: "HALL_VIEWERS"},
			{Name: "HALL_BEAD", About: "The microscope with the camera bead. For another microscope copy this block and replace bead and BEAD: docs/howto/deployment.md."},
		},
		Roles: given(site, []Role{
			{Name: "hall_worker", Account: "HALL", Doors: []Door{TCP}, Does: "driftscope work", puts: []string{"_INBOX.>", "_R_.>"}, hears: inbox},
			{Name: "hall_admin", Account: "HALL", Doors: []Door{TCP}, Does: "everything in this account: driftscope site init, batches, backups, deleting"},
			{Name: "hall_operator", Account: "HALL_OPERATORS", Doors: []Door{TCP, WebSocket}, Does: "driftscope stream, driftscope model, and commands. A stream's configuration names the files that workers read and write", hears: inbox},
			{Name: "hall_viewer", Account: "HALL_VIEWERS", Doors: []Door{TCP, WebSocket}, Does: "driftscope dashboard, watch and stream list; changes nothing", hears: inbox},
			{Name: "hall_bead", Account: "HALL_BEAD", Doors: []Door{TCP, Leaf}, Does: "driftscope publish --durable at the microscope, and the leaf node of its subnet", hears: inbox},
		})}
}

// Servers returns all kinds of servers.
func Servers() []*Server { return []*Server{Embedded(), Instrument(), Site()} }

// given sets the cells of roles from a table. It panics on an inconsistent table, which is a mistake in this package, so no program starts with it.
func given(table string, roles []Role) []Role {
	cells, err := columns(table)
	if err != nil {
		panic(err)
	}
	for i := range roles {
		roles[i].cells = cells[roles[i].Name]
		delete(cells, roles[i].Name)
		if roles[i].cells == nil {
			panic("no column of rights for the role " + roles[i].Name)
		}
	}
	if len(cells) > 0 {
		panic("a column of rights without a role")
	}
	return roles
}
