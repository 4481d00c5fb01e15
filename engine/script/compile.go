package script

// Program is a compiled script. It is safe to share.
type Program struct {
	source string
}
