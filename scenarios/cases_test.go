package scenarios

import (
	"slices"
	"testing"

	"faultlab/scenarios/lang"
)

// cases are the failure cases that the catalogue must show, by the name that a scenario's head gives them.
var cases = []string{
	"failure-before-commit",
	"failure-after-commit",
	"drop-after-commit",
	"drop-before-commit",
	"timeout-before-commit",
	"timeout-after-commit",
	"late-commit", // after the look-up said no record
	"body-cut",
	"body-not-json",
	"body-too-large",
	"retry-after",
	"client-error", // a 4xx that will not change
	"connection-refused",
	"script-throws",
	"throws-after-unkeyed-effect",
	"budget-503-nothing",
	"budget-503-committed",
	"cancelled-in-flight",
	"swallowed-drop",
	"new-key-per-attempt",
	"key-from-changing-fields",
	"changed-payload",
	"two-operations-one-key",
	"two-runs-one-key",
	"rerun-run-key",
	"rerun-business-key",
	"event-id-as-key",
	"key-too-long",
	"key-needs-encoding",
	"quoted-key",
	"key-not-looked-for",
	"stored-500",
	"key-expired",
	"in-flight-409",
	"conflict-exists",
	"conflict-other-payload",
	"key-shared-across-routes",
	"locked-after-500",
	"ignores-key-assumed",
	"ignores-key-declared",
	"missing-key",
	"clock-skew",
	"look-up-not-available",
	"look-up-stale",
	"crash-before-send",
	"crash-after-effect",
	"crash-after-reply",
	"crash-during-backoff",
	"crash-between-steps",
	"webhook-twice",
	"webhook-at-once",
	"webhook-changed-body",
	"authenticated-redelivery",
	"check-then-set", // beside the unique insert
	"inbound-deduplicated-outbound-doubled",
	"events-out-of-order",
	"transport-replay",
	"redirect-post-to-get",
	"natural-idempotency", // a PUT by a stable id, reconciled by reading it
	"wrong-but-executed",
	"compensation-clean",
	"compensation-held-back",
	"compensation-unknown",
	"settled-by-a-list",
	"ignored-key-in-a-list",
	"key-expired-abandon",
	"no-record-unproven",
	"herd", // without jitter; with jitter beside it
	"crash-in-compensation",
	"fail-over-to-another-zone",
	"swallowed-503",
	"accepted-429",
	"two-writes-one-step",
	"resubmit-with-another-key",
	"record-then-throws",
	"child-unknown-holds-refund",
	"retry-past-retention",
	"asked-too-early",
	"ledger-starts-fulfilment",
	"stored-reply-old-data",
}

func TestTheCatalogueShowsEveryCase(t *testing.T) {
	t.Parallel()
	if len(cases) != 80 {
		t.Fatalf("the list has %d cases, want 80", len(cases))
	}
	for _, c := range cases {
		if !slices.ContainsFunc(Catalogue(), func(s *lang.Scenario) bool { return slices.Contains(s.Cases, c) }) {
			t.Errorf("no scenario shows the case %s", c)
		}
	}
}

func TestTheCatalogueIsInOrder(t *testing.T) {
	t.Parallel()
	files, err := catalogueFiles.ReadDir("catalogue")
	if err != nil {
		t.Fatal(err)
	}
	if list := Catalogue(); len(list) != len(files) || len(list) < 45 {
		t.Errorf("the groups name %d scenarios, the folder holds %d files, at least 45 are wanted", len(list), len(files))
	}
	titles := map[string]string{}
	groups := map[string]bool{}
	last := ""
	for _, s := range Catalogue() {
		name := s.Name
		if s.Group == "" || s.Group != last && groups[s.Group] {
			t.Errorf("%s is of the group %q, which does not stand together", name, s.Group)
		}
		groups[s.Group], last = true, s.Group
		if other := titles[s.Title]; other != "" {
			t.Errorf("%s and %s have the same title", name, other)
		}
		titles[s.Title] = name
		if s.Teach == "" {
			t.Errorf("%s teaches nothing", name)
		}
		n, _ := namesOf(s)
		if err := s.Check(n); err != nil {
			t.Error(err)
		}
	}
}

// What somebody who opens a scenario sees must not end in a refusal that nobody asked for, unless that is what it shows.
func TestOnlyTheScenarioAboutRefusalsEndsInOne(t *testing.T) {
	t.Parallel()
	for _, s := range Catalogue() {
		rows := replay(t, s, Options{}).View.Wire
		last := rows[len(rows)-1]
		if refused := last.Kind == RowNote && last.Tone == ToneBad; refused != (s.Name == "c3-record-without-evidence") {
			t.Errorf("%s ends with %q, %q", s.Name, last.Text, last.Detail)
		}
	}
}

func TestEveryScenarioClaimsWhatMatters(t *testing.T) {
	t.Parallel()
	for _, s := range Catalogue() {
		claimed := map[string]bool{}
		for _, l := range s.Lines {
			if l.Expect != nil {
				claimed[l.Expect.What] = true
			}
		}
		for what, met := range map[string]bool{
			"how the run ends":       claimed["run"],
			"what is in the ledger":  claimed["effects"],
			"how the two compare":    claimed["verdict"],
			"how often it was tried": claimed["attempts"] || claimed["requests"] || claimed["runs"],
		} {
			if !met {
				t.Errorf("%s does not claim %s", s.Name, what)
			}
		}
	}
}

func TestTheCataloguesFilesAreTidy(t *testing.T) {
	t.Parallel()
	for _, s := range Catalogue() {
		src, err := catalogueFiles.ReadFile(s.File)
		if err != nil {
			t.Fatal(err)
		}
		tidy, err := lang.Format(src)
		if err != nil {
			t.Fatal(err)
		}
		if string(tidy) != string(src) {
			t.Errorf("%s is not tidy:\n%s", s.File, firstDifference(string(src), string(tidy)))
		}
	}
}
