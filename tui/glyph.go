package tui

// glyphs are the signs of the screen. Each is one cell wide where ambiguous
// characters are narrow; the ASCII set is one cell wide everywhere.
type glyphs struct {
	ascii                                bool
	good, bad, unknown, open, note       string
	effect, replay, refused              string
	h, v, tl, tr, bl, br, tee, end, dash string
	right, left, broken                  string
	bar, track, knob                     string
	more, live, rest, paused, past, down string
	callout, cover, pick, times, none    string
	wait, dot, arrowLeft, arrowRight     string
	up, bottom                           string
}

var unicodeGlyphs = glyphs{
	good: "✓", bad: "✕", unknown: "?", open: "○", note: "•",
	effect: "◆", replay: "◇", refused: "⊘",
	h: "─", v: "│", tl: "╭", tr: "╮", bl: "╰", br: "╯", tee: "├", end: "┤", dash: "┄",
	right: "▶", left: "◀", broken: "╳",
	bar: "━", track: "─", knob: "●",
	more: "…", live: "●", rest: "■", paused: "‖", past: "◂", down: "✕",
	callout: "▌", cover: "░", pick: "›", times: "×", none: "–",
	wait: "┊", dot: "·", arrowLeft: "←", arrowRight: "→",
	up: "↑", bottom: "↓",
}

var asciiGlyphs = glyphs{
	ascii: true,
	good:  "+", bad: "x", unknown: "?", open: "o", note: "*",
	effect: "#", replay: "=", refused: "!",
	h: "-", v: "|", tl: "+", tr: "+", bl: "+", br: "+", tee: "|", end: "|", dash: ".",
	right: ">", left: "<", broken: "X",
	bar: "=", track: "-", knob: "O",
	more: "~", live: "*", rest: "=", paused: "\"", past: "<", down: "x",
	callout: "|", cover: "/", pick: ">", times: "x", none: "-",
	wait: ":", dot: "-", arrowLeft: "<", arrowRight: ">",
	up: "^", bottom: "v",
}
