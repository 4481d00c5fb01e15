package tui

// ink is what a piece of text means, not how it looks: a theme says that. No ink
// stands alone for a state; a glyph and a word always say it too.
type ink int

// The inks.
const (
	inkText    ink = iota // the terminal's own colour
	inkStrong             // names, numbers that matter
	inkQuiet              // what can be read later
	inkGood               // done, succeeded, one effect
	inkBad                // failed, duplicate
	inkUnknown            // nobody knows: the loudest
	inkWire               // requests and replays
	inkTruth              // effects in the provider's ledger
	inkAccent             // keys, the pane in focus, the timeline
	inkBadge              // the product's name
	inkCap                // a key inside the call-out
	inkPick               // the selected line
	inkFrame              // borders at rest, lifelines
	inkCover              // what stands where the truth is covered
	inkAlarm              // the frame around what nobody knows, and its bar
	inkCount              // how many there are
)

var inkNames = [inkCount]string{"text", "strong", "quiet", "good", "bad", "unknown", "wire", "truth", "accent", "badge", "cap", "pick", "frame", "cover", "alarm"}

func (k ink) String() string { return inkNames[k] }
