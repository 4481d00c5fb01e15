package faultprovider

// index finds numbers by hashes, in four bytes a number and some air: it holds neither keys nor hashes, its owner tells
// whether a number is the wanted one. It is split in shards, so that growing one of them takes no caller long.
type index struct {
	shards [256]shard
	hash   func(n int32) uint64 // the hash of a number that is in the index
}

// shard is an open addressed table whose length is a power of two; 0 is an empty slot.
type shard struct {
	slots []int32
	used  int
}

// get returns the number of that hash for which is reports true. A number is never 0.
func (x *index) get(hash uint64, is func(n int32) bool) (int32, bool) {
	s := &x.shards[hash>>56]
	if s.used == 0 {
		return 0, false
	}
	n := s.slots[s.find(hash, is)]
	return n, n != 0
}

// set puts a number in, in the place of the one for which is reports true.
func (x *index) set(hash uint64, n int32, is func(n int32) bool) {
	s := &x.shards[hash>>56]
	if s.used >= len(s.slots)/2 { // a search looks at rows, and that costs more than air
		s.grow(x.hash)
	}
	at := s.find(hash, is)
	if s.slots[at] == 0 {
		s.used++
	}
	s.slots[at] = n
}

// find returns the place of the wanted number, or the empty one where it belongs.
func (s *shard) find(hash uint64, is func(n int32) bool) int {
	mask := len(s.slots) - 1
	at := int(hash) & mask
	for s.slots[at] != 0 && !is(s.slots[at]) {
		at = (at + 1) & mask
	}
	return at
}

func (s *shard) grow(hash func(n int32) uint64) {
	old := s.slots
	s.slots = make([]int32, max(8, 2*len(old)))
	for _, n := range old {
		if n != 0 {
			s.slots[s.find(hash(n), func(int32) bool { return false })] = n
		}
	}
}
