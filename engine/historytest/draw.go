package historytest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"pgregory.net/rapid"

	"faultlab/engine"
)

// prototypes has one fact of each kind; a test compares it with engine.Kinds.
var prototypes = []engine.Fact{
	engine.Admitted{}, engine.Started{}, engine.AttemptStarted{}, engine.CallStarted{}, engine.RequestSent{}, engine.RequestEnded{},
	engine.NotSent{}, engine.CallEnded{}, engine.AttemptEnded{}, engine.Waiting{}, engine.Resumed{}, engine.CancelAsked{}, engine.Ended{},
	engine.Evidence{}, engine.Decided{},
}

// Facts draws any fact, with any values in its fields, whatever fields it has.
func Facts() *rapid.Generator[engine.Fact] {
	return rapid.Custom(func(t *rapid.T) engine.Fact {
		v := reflect.New(reflect.TypeOf(rapid.SampledFrom(prototypes).Draw(t, "kind"))).Elem()
		fill(t, v)
		f := v.Interface().(engine.Fact)
		if a, ok := f.(engine.Admitted); ok { // one hash, one document
			a.Definition = rapid.SampledFrom([]string{"sha256:1", "sha256:2"}).Draw(t, "definition")
			a.Source = "the document of " + a.Definition
			a.Assumed = ""
			if a.Assume = rapid.SampledFrom([]string{"", "sha256:a", "sha256:b"}).Draw(t, "assumed"); a.Assume != "" {
				a.Assumed = `{"set":"` + a.Assume + `"}`
			}
			return a
		}
		return f
	})
}

// The values that rules look at; other words are as good as any text.
var words = map[reflect.Type][]string{
	reflect.TypeFor[engine.Status]():  {"queued", "running", "waiting", "cancelling", "succeeded", "failed", "cancelled"},
	reflect.TypeFor[engine.Outcome](): {string(engine.Succeeded), string(engine.Failed), string(engine.Unknown)},
	reflect.TypeFor[engine.Next]():    {string(engine.NextRetry), string(engine.NextStep), string(engine.NextReconcile)},
	reflect.TypeFor[engine.Decision](): {string(engine.Record), string(engine.Resubmit), string(engine.Abandon),
		string(engine.Escalate)},
}

var documentsOfJSON = []string{`null`, `{}`, `{"id":"job_1","n":1.50,"e":1e3}`, `"<a&b>"`, `["\u2028","` + "\u2028" + `",-0]`, `{"b":1,"a":{"b":[]}}`}

func fill(t *rapid.T, v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		if rapid.Bool().Draw(t, "a time") {
			v.Set(reflect.ValueOf(drawTime(t)))
		}
		return
	case reflect.TypeFor[json.RawMessage]():
		if rapid.Bool().Draw(t, "a value") {
			v.SetBytes([]byte(rapid.SampledFrom(documentsOfJSON).Draw(t, "JSON")))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		if enum := words[v.Type()]; enum != nil {
			v.SetString(rapid.SampledFrom(enum).Draw(t, "word"))
			return
		}
		v.SetString(rapid.String().Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "number"))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "a pointer") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		fillSlice(t, v)
	default:
		panic(fmt.Sprintf("historytest cannot draw a %s", v.Type()))
	}
}

// fillSlice leaves nil or draws; an empty list of texts has no form of its own in JSON.
func fillSlice(t *rapid.T, v reflect.Value) {
	switch v.Type().Elem().Kind() {
	case reflect.Uint8:
		if rapid.Bool().Draw(t, "a body") {
			v.SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes"))
		}
	case reflect.String:
		if s := rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "texts"); len(s) > 0 {
			v.Set(reflect.ValueOf(s))
		}
	case reflect.Struct:
		for range rapid.IntRange(0, 2).Draw(t, "how many") {
			element := reflect.New(v.Type().Elem()).Elem()
			fill(t, element)
			v.Set(reflect.Append(v, element))
		}
	default:
		panic(fmt.Sprintf("historytest cannot draw a %s", v.Type()))
	}
}

func drawTime(t *rapid.T) time.Time {
	return time.Unix(0, rapid.Int64Range(0, 4e18).Draw(t, "nanoseconds since 1970")).UTC()
}

// Scripts draws a history to make: a list of appends, some of which break a rule.
func Scripts() *rapid.Generator[[][]engine.Event] {
	return rapid.Custom(func(t *rapid.T) [][]engine.Event {
		runs := []string{"run_a", "run_b", "run_bc", "run_c", "", "RUN"}
		appends := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) engine.Event {
			return engine.Event{Run: rapid.SampledFrom(runs).Draw(t, "run"), At: drawTime(t), Fact: tie(t, Facts().Draw(t, "fact"))}
		}), 1, 4), 1, 12).Draw(t, "appends")
		var script [][]engine.Event
		for _, run := range runs[:3] { // else most appends would be refused
			admission := tie(t, engine.Admitted{Workflow: "w", Definition: "sha256:1", Source: "the document of sha256:1"})
			script = append(script, []engine.Event{{Run: run, At: drawTime(t), Fact: admission}})
		}
		return append(script, appends...)
	})
}

// tie makes facts meet: few steps, few deliveries, few parents.
func tie(t *rapid.T, f engine.Fact) engine.Fact {
	few := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }
	if f, ok := f.(engine.Admitted); ok {
		f.Workflow, f.Trigger, f.Delivery = few("workflow", "w", "v"), few("trigger", "", "hook"), few("key", "", "", "k1", "k2")
		if f.Parent != nil {
			f.Parent.Run, f.Parent.Step, f.Parent.Name = few("parent", "run_a", "run_x"), few("step", "a", "b"), few("name", "", "c")
		}
		return f
	}
	v := reflect.New(reflect.TypeOf(f)).Elem()
	v.Set(reflect.ValueOf(f))
	if step := v.FieldByName("Step"); step.IsValid() {
		step.SetString(few("step", "a", "b"))
	}
	return v.Interface().(engine.Fact)
}
