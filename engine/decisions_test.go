package engine

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// asked is a keyed write that was sent, under a key that the provider enforces and remembers for a day.
func askedAbout(p Proof) Situation {
	return Situation{Proof: p, Askable: true, Sent: true, Wrote: true, Keyed: true, Protected: true,
		Retention: 24 * time.Hour, Age: time.Hour, AskedAge: time.Hour, Conflicts: []string{"/amount"}}
}

func with(s Situation, change func(*Situation)) Situation {
	change(&s)
	return s
}

// Table e, row by row: what may be recorded, resubmitted and abandoned, what --result
// is, and what is advised.
func TestWhatMayBeDecided(t *testing.T) {
	t.Parallel()
	outlived := func(s *Situation) { s.Age = 24 * time.Hour }
	forgotten := func(s *Situation) { s.Age, s.AskedAge = 25*time.Hour, 24*time.Hour }
	unenforced := func(s *Situation) { s.Protected = false }
	unkeyed := func(s *Situation) { s.Keyed, s.Protected, s.Retention = false, false, 0 }
	cancelled := func(s *Situation) { s.Cancelled = true }
	mute := func(s *Situation) { s.Askable = false }
	local := func(s *Situation) { s.Askable, s.Sent, s.Keyed, s.Protected = false, false, false, false }
	another := func(s *Situation) { s.OtherWrite = true }
	locked := func(s *Situation) { s.Conflict = true }
	interrupted := Situation{Interrupted: true}
	for _, r := range []struct {
		name                              string
		s                                 Situation
		record, resubmit, abandon, byHand string
		advice                            Advice
	}{
		{"found, matches", askedAbout(ProofMatches), "yes", "no", "no", "yes", AdviseRecord},
		{"found, cannot be compared", askedAbout(ProofIncomparable), "force", "no", "force", "force", AdviseEscalate},
		{"found, contradicts", askedAbout(ProofContradicts), "force", "no", "force", "force", AdviseEscalate},
		{"several", askedAbout(ProofSeveral), "--result", "no", "force", "force", AdviseEscalate},
		{"no record", askedAbout(ProofNoRecord), "no", "yes", "yes", "force", AdviseResubmit},
		{"no record, and the key is outlived now", with(askedAbout(ProofNoRecord), outlived), "no", "force", "yes", "force", AdviseEscalate},
		{"no record, and the key was forgotten then", with(askedAbout(ProofNoRecord), forgotten), "no", "force", "force", "force", AdviseEscalate},
		{"no record, and nobody enforces the key", with(askedAbout(ProofNoRecord), unenforced), "no", "force", "yes", "force", AdviseEscalate},
		{"no record, and the key's last answer was 409", with(askedAbout(ProofNoRecord), locked), "no", "yes", "yes", "force", AdviseEscalate},
		{"no record, unproven", askedAbout(ProofUnproven), "no", "yes", "force", "force", AdviseResubmit},
		{"no record, unproven, and the key is outlived", with(askedAbout(ProofUnproven), outlived), "no", "force", "force", "force", AdviseEscalate},
		{"never looked up", askedAbout(ProofNone), "no", "force", "force", "force", AdviseLookup},
		{"never looked up, and it cannot be", with(askedAbout(ProofNone), mute), "--result", "force", "force", "force", AdviseEscalate},
		{"no answer", askedAbout(ProofNoAnswer), "--result", "force", "force", "force", AdviseLookup},
		{"older than the last request", askedAbout(ProofStale), "no", "force", "force", "force", AdviseLookup},
		{"a call of another service than HTTP", with(askedAbout(ProofNone), local), "--result", "force", "force", "force", AdviseEscalate},
		{"answered and done", Situation{Answered: true, Sent: true, Wrote: true, Keyed: true}, "yes", "no", "no", "yes", AdviseRecord},
		{"interrupted, nothing unknown", interrupted, "--result", "yes", "no", "yes", AdviseResubmit},
		{"interrupted after a keyed write was done", Situation{Interrupted: true, Answered: true, Wrote: true, Keyed: true}, "yes", "yes", "no", "yes", AdviseResubmit},
		{"interrupted after a write without a key was done", Situation{Interrupted: true, Answered: true, Wrote: true}, "yes", "force", "no", "yes", AdviseRecord},
		{"cancelled, found, matches", with(askedAbout(ProofMatches), cancelled), "yes", "no", "no", "yes", AdviseRecord},
		{"undone since, no record", with(askedAbout(ProofNoRecord), func(s *Situation) { s.Undone = true }), "no", "no", "yes", "force", AdviseEscalate},
		{"cancelled, no record", with(askedAbout(ProofNoRecord), cancelled), "no", "no", "yes", "force", AdviseEscalate},
		{"cancelled, never looked up", with(askedAbout(ProofNone), cancelled), "no", "no", "force", "force", AdviseLookup},
		{"without a key, found, matches", with(askedAbout(ProofMatches), unkeyed), "yes", "no", "no", "yes", AdviseRecord},
		{"without a key, no record", with(askedAbout(ProofNoRecord), unkeyed), "no", "force", "yes", "force", AdviseEscalate},
		{"without a key, unproven", with(askedAbout(ProofUnproven), unkeyed), "no", "force", "force", "force", AdviseEscalate},
		{"another write of the step is unknown, found, matches", with(askedAbout(ProofMatches), another), "yes", "no", "no", "no", AdviseRecord},
		{"another write of the step is unknown, no record", with(askedAbout(ProofNoRecord), another), "no", "yes", "yes", "no", AdviseResubmit},
	} {
		word := func(d Decision, byHand bool) string {
			switch ruling := r.s.Ruling(d, byHand); {
			case ruling.Permission == Denied && strings.Contains(ruling.Why, "--result"):
				return "--result"
			case ruling.Permission == Denied:
				return "no"
			case ruling.Permission == Forced:
				return "force"
			}
			return "yes"
		}
		got := [4]string{word(Record, false), word(Resubmit, false), word(Abandon, false), word(Record, true)}
		if want := [4]string{r.record, r.resubmit, r.abandon, r.byHand}; got != want || word(Escalate, false) != "yes" {
			t.Errorf("%s: record, resubmit, abandon, --result are %v, want %v", r.name, got, want)
		}
		if got := r.s.Advice(); got != r.advice {
			t.Errorf("%s: advised to %s, want %s", r.name, got, r.advice)
		}
	}
}

func situations() *rapid.Generator[Situation] {
	return rapid.Custom(func(t *rapid.T) Situation {
		flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
		s := Situation{Askable: flag("askable"), Sent: flag("sent"), Answered: flag("answered"), Interrupted: flag("interrupted"), Wrote: flag("wrote"),
			Keyed: flag("keyed"), Protected: flag("protected"), Cancelled: flag("cancelled"), Undone: flag("undone"), OtherWrite: flag("other write"), Conflict: flag("conflict"),
			Proof: rapid.SampledFrom([]Proof{ProofNone, ProofNoAnswer, ProofStale, ProofMatches, ProofIncomparable, ProofContradicts, ProofSeveral, ProofNoRecord, ProofUnproven}).Draw(t, "proof")}
		if flag("a retention") {
			s.Retention = 24 * time.Hour
		}
		s.AskedAge = time.Duration(rapid.IntRange(0, 48).Draw(t, "age when asked")) * time.Hour
		s.Age = s.AskedAge + time.Duration(rapid.IntRange(0, 48).Draw(t, "later"))*time.Hour
		return s
	})
}

// What is advised is allowed without force, nothing is forced or refused without a
// reason, and time alone makes no decision easier.
func TestWhatIsAdvisedIsAllowed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := situations().Draw(t, "situation")
		switch advice := s.Advice(); advice {
		case AdviseRecord, AdviseResubmit, AdviseEscalate:
			if r := s.Ruling(Decision(advice), false); r.Permission != Allowed {
				t.Fatalf("%s is advised, and ruled %+v", advice, r)
			}
		case AdviseLookup:
			if !s.Askable {
				t.Fatal("a look-up is advised that cannot be made")
			}
		default:
			t.Fatalf("%q is advised", advice)
		}
		if text := s.Sentence(); !strings.HasSuffix(text, ".") || strings.Contains(text, "because :") {
			t.Fatalf("the advice reads %q", text)
		} else if strings.Contains(text, "abandon it") && s.Ruling(Abandon, false).Permission != Allowed {
			t.Fatalf("abandoning is ruled %+v, and the advice reads %q", s.Ruling(Abandon, false), text)
		}
		older := s
		older.Age += time.Hour
		for _, d := range []Decision{Record, Resubmit, Abandon, Escalate} {
			for _, byHand := range []bool{false, true} {
				r := s.Ruling(d, byHand)
				if (r.Permission == Allowed) != (r.Why == "") {
					t.Fatalf("%s, by hand %v, is ruled %+v", d, byHand, r)
				}
				if later := older.Ruling(d, byHand); later.Permission < r.Permission {
					t.Fatalf("%s is ruled %+v, and an hour later %+v", d, r, later)
				}
			}
		}
		if r := s.Ruling("undo", false); r.Permission != Denied {
			t.Fatalf("a word that is no decision is ruled %+v", r)
		}
	})
}
