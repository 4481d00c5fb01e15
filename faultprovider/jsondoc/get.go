package jsondoc

// Get returns the value of a top-level member, spelled as in text, which must be what Reserialize returned. It
// allocates nothing.
func Get(text []byte, name string) ([]byte, bool) {
	if len(text) == 0 || text[0] != '{' {
		return nil, false
	}
	quoted := AppendString(make([]byte, 0, 64), name)
	for pos := 1; pos < len(text) && text[pos] == '"'; {
		end := skip(text, pos)
		found := string(text[pos:end]) == string(quoted)
		pos = end + 1
		end = skip(text, pos)
		if found {
			return text[pos:end], true
		}
		pos = end + 1
	}
	return nil, false
}

// skip returns the end of the value that begins at pos.
func skip(text []byte, pos int) int {
	depth := 0
	for pos < len(text) {
		switch text[pos] {
		case '"':
			for pos++; pos < len(text) && text[pos] != '"'; pos++ {
				if text[pos] == '\\' {
					pos++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return pos
			}
			depth--
		case ',', ':':
			if depth == 0 {
				return pos
			}
		}
		pos++
		if depth == 0 && pos < len(text) && (text[pos] == ',' || text[pos] == ':' || text[pos] == '}' || text[pos] == ']') {
			return pos
		}
	}
	return pos
}
