package engine

// growStack makes the stack of the calling actor as large as an attempt and its calls
// need. Grown step by step, deep in its calls, it would be copied three times over,
// which costs as much as the rest of a call's own work.
//
//go:noinline
func growStack(i int) byte {
	var room [12 << 10]byte
	room[i] = 1 // else the compiler sees that nothing is needed
	return room[len(room)-1-i]
}
