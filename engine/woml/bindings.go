package woml

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// maxSecrets is the most secrets that one script can read.
const maxSecrets = 64

// servicesNotRun are services of WOML that are not run here, with what to use
// instead; servicesRun are the others.
var (
	servicesRun    = []string{"http", "db", "workflows"}
	servicesNotRun = map[string]string{
		"storage": insteadStore, "cache": insteadStore, "state": insteadStore,
		"queue": insteadCall, "events": insteadCall,
		"slack": insteadNotify, "telegram": insteadNotify, "discord": insteadNotify, "whatsapp": insteadNotify,
	}
)

const (
	insteadStore = `Keep data with services.db({ driver: "sqlite", ... }).`
	insteadCall  = "Start another workflow with services.workflows.start."
)

// identifier checks a name that is used alone, not as "name.member".
func (a *analysis) identifier(id *ast.Identifier, written bool) {
	a.uses = append(a.uses, use{at: id.Idx, name: id.Name.String()})
	switch name := id.Name.String(); name {
	case "services":
		a.about(name, id.Idx, "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED", "services can only be used as services.NAME: not copied, passed on, returned or assigned.",
			"Write services.http.request(...) where it is needed; const http = services.http works too.")
	case "secrets":
		a.about(name, id.Idx, "WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED", "secrets can only be read as secrets.NAME: not copied, listed, passed on, returned or assigned.",
			"Write secrets.NAME where the value is needed.")
	case "lifecycle":
		a.noLifecycle(id)
	case "fetch":
		if written {
			a.noFetchWrite(name, id.Idx)
		}
	}
}

func (a *analysis) noLifecycle(id *ast.Identifier) {
	a.about("lifecycle", id.Idx, "WOML_LIFECYCLE_BINDING_UNAVAILABLE", "A step has no lifecycle.", "Read context.payload, context.steps and attempt.")
}

func (a *analysis) noFetchWrite(binding string, at file.Idx) {
	a.about(binding, at, "WOML_SCRIPT_FETCH_WRITE_UNSUPPORTED", "fetch cannot be replaced: its requests are on the timeline.", "Wrap it in a function of another name.")
}

// link is one ".name", "?.name" or "[...]" of a chain of members.
type link struct {
	name     string // empty where it is computed and not a literal
	at       file.Idx
	computed bool
	optional bool
	index    ast.Expression // in the brackets
}

// chain takes "root.a.b" apart; the links come in the order of the text.
func chain(e ast.Expression) (root ast.Expression, links []link) {
	for {
		switch m := e.(type) {
		case *ast.OptionalChain:
			e = m.Expression
		case *ast.Optional:
			if len(links) > 0 {
				links[len(links)-1].optional = true
			}
			e = m.Expression
		case *ast.DotExpression:
			links = append(links, link{name: m.Identifier.Name.String(), at: m.Identifier.Idx})
			e = m.Left
		case *ast.PrivateDotExpression:
			links = append(links, link{at: m.Identifier.Idx})
			e = m.Left
		case *ast.BracketExpression:
			l := link{at: m.LeftBracket, computed: true, index: m.Member}
			if literal, ok := m.Member.(*ast.StringLiteral); ok {
				l.name = literal.Value.String()
			}
			links = append(links, l)
			e = m.Left
		default:
			for i, j := 0, len(links)-1; i < j; i, j = i+1, j-1 {
				links[i], links[j] = links[j], links[i]
			}
			return e, links
		}
	}
}

// member checks "root.a.b".
func (a *analysis) member(e ast.Expression, written bool) {
	root, links := chain(e)
	for _, l := range links {
		a.walk(l.index)
	}
	id, ok := root.(*ast.Identifier)
	if !ok || len(links) == 0 {
		a.walk(root)
		return
	}
	a.use(id, links)
	written = written && len(links) == 1
	switch name := id.Name.String(); name {
	case "services":
		a.service(id, links, e, written)
	case "secrets":
		a.secret(id, links[0], written)
	case "lifecycle":
		a.noLifecycle(id)
	case "globalThis", "self":
		if written && links[0].name == "fetch" {
			a.noFetchWrite("fetch", id.Idx)
		}
	}
}

// use notes which member of which name is used; those of the global object
// count as names.
func (a *analysis) use(id *ast.Identifier, links []link) {
	name := id.Name.String()
	if name == "globalThis" || name == "self" {
		name, links = links[0].name, links[1:]
	}
	u := use{at: id.Idx, name: name}
	if len(links) > 0 {
		u.member = links[0].name
	}
	a.uses = append(a.uses, u)
}

// service checks "services.name" and the members of the service.
func (a *analysis) service(id *ast.Identifier, links []link, e ast.Expression, written bool) {
	const hint = "Write the names out, such as services.http.request."
	for i := len(links) - 1; i >= 0; i-- {
		switch l := links[i]; {
		case l.computed:
			a.about("services", id.Idx, "WOML_SCRIPT_SERVICE_ACCESS_DYNAMIC", "A service and its operation must be named, not computed.", hint)
			return
		case l.optional:
			a.about("services", id.Idx, "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED", "A service is always there, so ?. is not supported on it.", hint)
			return
		case written && i == len(links)-1:
			a.about("services", id.Idx, "WOML_SCRIPT_SERVICE_WRITE_UNSUPPORTED", "services are read-only.", "Call the service; do not replace it.")
			return
		}
	}
	a.services = append(a.services, serviceUse{links[0].name, a.start + a.offset(id.Idx)})
}

// secret checks "secrets.NAME".
func (a *analysis) secret(id *ast.Identifier, l link, written bool) {
	const hint = "Write secrets.NAME with the name of the secret."
	switch {
	case written:
		a.about("secrets", id.Idx, "WOML_SCRIPT_SECRET_WRITE_UNSUPPORTED", "secrets are read-only.", "Keep the value in the environment or in a secrets file.")
	case l.optional:
		a.about("secrets", id.Idx, "WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED", "A secret that is named must exist, so ?. is not supported on it.", hint)
	case l.computed:
		a.about("secrets", id.Idx, "WOML_SCRIPT_SECRET_ACCESS_DYNAMIC", "A secret must be named, not computed.", hint)
	case !secretNamePattern.MatchString(l.name):
		a.about("secrets", l.at, "WOML_SCRIPT_SECRET_NAME_INVALID", fmt.Sprintf("%s is not the name of a secret: upper-case letters, digits and underscores, a letter first.",
			excerpt(l.name)),
			"Such as secrets."+strings.ToUpper(snake(l.name))+".")
	default:
		a.secrets[l.name] = true
	}
}

// snake turns apiToken into api_Token.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// knownServices reports the services that do not exist, after all else.
func (c *checker) knownServices() {
	for _, s := range c.services {
		if instead, known := servicesNotRun[s.name]; known {
			c.fail(s.offset, "WOML_FEATURE_NOT_EXECUTABLE", fmt.Sprintf("services.%s is valid WOML, and it is not run here.", s.name), instead)
			continue
		}
		if !slices.Contains(servicesRun, s.name) {
			c.fail(s.offset, "WOML_MODULE_SERVICE_UNKNOWN", fmt.Sprintf("There is no service %s.", excerpt(s.name)),
				didYouMean("services.%s", s.name, servicesRun))
		}
	}
}
