package draw

// Glyphs are the signs of the screen. Each is one cell wide where ambiguous
// characters are narrow; the ASCII set is one cell wide everywhere.
type Glyphs struct {
	ASCII                                bool
	Good, Bad, Unknown, Open, Note       string
	Effect, Replay, Refused              string
	H, V, tl, tr, bl, br, Tee, End, Dash string
	Right, Left, Broken                  string
	Bar, Track, Knob                     string
	More, Live, Rest, Paused, Past, Down string
	Callout, Cover, Pick, Times, None    string
	Wait, Dot, ArrowLeft, ArrowRight     string
	Up, Bottom                           string
}

var Unicode = Glyphs{
	Good: "✓", Bad: "✕", Unknown: "?", Open: "○", Note: "•",
	Effect: "◆", Replay: "◇", Refused: "⊘",
	H: "─", V: "│", tl: "╭", tr: "╮", bl: "╰", br: "╯", Tee: "├", End: "┤", Dash: "┄",
	Right: "▶", Left: "◀", Broken: "╳",
	Bar: "━", Track: "─", Knob: "●",
	More: "…", Live: "●", Rest: "■", Paused: "‖", Past: "◂", Down: "✕",
	Callout: "▌", Cover: "░", Pick: "›", Times: "×", None: "–",
	Wait: "┊", Dot: "·", ArrowLeft: "←", ArrowRight: "→",
	Up: "↑", Bottom: "↓",
}

var ASCII = Glyphs{
	ASCII: true,
	Good:  "+", Bad: "x", Unknown: "?", Open: "o", Note: "*",
	Effect: "#", Replay: "=", Refused: "!",
	H: "-", V: "|", tl: "+", tr: "+", bl: "+", br: "+", Tee: "|", End: "|", Dash: ".",
	Right: ">", Left: "<", Broken: "X",
	Bar: "=", Track: "-", Knob: "O",
	More: "~", Live: "*", Rest: "=", Paused: "\"", Past: "<", Down: "x",
	Callout: "|", Cover: "/", Pick: ">", Times: "x", None: "-",
	Wait: ":", Dot: "-", ArrowLeft: "<", ArrowRight: ">",
	Up: "^", Bottom: "v",
}

// A sign is a state as the screen says it: a glyph, a word and an ink, never one of them alone.
type Sign struct {
	Glyph func(Glyphs) string
	Word  string
	Ink   Ink
}

func (g Glyphs) Of(s Sign) string { return s.Glyph(g) + " " + s.Word }

// The glyphs of signs.
func GlyphGood(g Glyphs) string    { return g.Good }
func GlyphBad(g Glyphs) string     { return g.Bad }
func GlyphUnknown(g Glyphs) string { return g.Unknown }
func GlyphOpen(g Glyphs) string    { return g.Open }
func GlyphNote(g Glyphs) string    { return g.Note }
