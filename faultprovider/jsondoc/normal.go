package jsondoc

// normal reports whether text is already what Reserialize would make of it. It decides for the plain texts that
// clients send and says no when in doubt: escapes, bytes beyond ASCII, fractions, exponents, long numbers, names that
// look like an array index, and objects with many members take the long way.
func normal(text []byte) bool {
	s := scanner{src: text}
	return s.value(0) && s.pos == len(text)
}

const (
	plainDepth   = 32
	plainMembers = 16
	plainDigits  = 15 // every integer of so many digits is a double
)

type scanner struct {
	src []byte
	pos int
}

func (s *scanner) is(c byte) bool {
	if s.pos < len(s.src) && s.src[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) value(depth int) bool {
	if s.pos >= len(s.src) || depth > plainDepth {
		return false
	}
	switch c := s.src[s.pos]; {
	case c == '"':
		_, ok := s.string()
		return ok
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scanner) word(w string) bool {
	end := s.pos + len(w)
	if end > len(s.src) || string(s.src[s.pos:end]) != w {
		return false
	}
	s.pos = end
	return true
}

func (s *scanner) number() bool {
	negative := s.is('-')
	start := s.pos
	for s.pos < len(s.src) && s.src[s.pos] >= '0' && s.src[s.pos] <= '9' {
		s.pos++
	}
	n := s.pos - start
	if n == 0 || n > plainDigits || s.src[start] == '0' && (n > 1 || negative) {
		return false
	}
	return s.pos == len(s.src) || s.src[s.pos] == ',' || s.src[s.pos] == '}' || s.src[s.pos] == ']'
}

// string returns what is between the quotes.
func (s *scanner) string() ([]byte, bool) {
	s.pos++
	for start := s.pos; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case c == '"':
			s.pos++
			return s.src[start : s.pos-1], true
		case c < 0x20 || c == '\\' || c >= 0x80:
			return nil, false
		}
	}
	return nil, false
}

func (s *scanner) array(depth int) bool {
	s.pos++
	if s.is(']') {
		return true
	}
	for {
		if !s.value(depth + 1) {
			return false
		}
		if s.is(']') {
			return true
		}
		if !s.is(',') {
			return false
		}
	}
}

func (s *scanner) object(depth int) bool {
	s.pos++
	if s.is('}') {
		return true
	}
	var buf [plainMembers][]byte
	names := buf[:0]
	for len(names) < plainMembers {
		if s.pos >= len(s.src) || s.src[s.pos] != '"' {
			return false
		}
		name, ok := s.string()
		if !ok || name == nil || len(name) > 0 && name[0] >= '0' && name[0] <= '9' {
			return false
		}
		for _, other := range names {
			if string(other) == string(name) {
				return false
			}
		}
		names = append(names, name)
		if !s.is(':') || !s.value(depth+1) {
			return false
		}
		if s.is('}') {
			return true
		}
		if !s.is(',') {
			return false
		}
	}
	return false
}

// Field returns the value of a top-level member, spelled as in text, which must be what Reserialize returned. It
// allocates nothing.
func Field(text []byte, name string) ([]byte, bool) {
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

// appendSorted appends the canonical form of a normal text: the names of its objects are few and plain, so they sort as bytes.
func appendSorted(dst, text []byte) []byte {
	switch text[0] {
	case '{':
		return appendSortedObject(dst, text)
	case '[':
		dst = append(dst, '[')
		for pos := 1; text[pos] != ']'; {
			end := skip(text, pos)
			dst = appendSorted(dst, text[pos:end])
			if pos = end; text[pos] == ',' {
				dst, pos = append(dst, ','), pos+1
			}
		}
		return append(dst, ']')
	}
	return append(dst, text...)
}

func appendSortedObject(dst, text []byte) []byte {
	var buf [plainMembers]struct{ name, value []byte } // the name with its quotes
	members := buf[:0]
	for pos := 1; text[pos] == '"'; {
		nameEnd := skip(text, pos)
		end := skip(text, nameEnd+1)
		m := struct{ name, value []byte }{text[pos:nameEnd], text[nameEnd+1 : end]}
		at := len(members)
		for members = append(members, m); at > 0 && string(unquoted(m.name)) < string(unquoted(members[at-1].name)); at-- {
			members[at] = members[at-1]
		}
		members[at] = m
		if pos = end; text[pos] == ',' {
			pos++
		}
	}
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, m.name...), ':')
		dst = appendSorted(dst, m.value)
	}
	return append(dst, '}')
}

func unquoted(name []byte) []byte { return name[1 : len(name)-1] }

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
