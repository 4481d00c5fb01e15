package woml

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What names look like, as the reference has it.
var (
	workflowIDPattern = regexp.MustCompile(`^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$`)
	idPattern         = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`) // of a step or a trigger: a name in JavaScript
	queuePattern      = regexp.MustCompile(`^[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*$`)
	secretNamePattern = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	callNamePattern   = queuePattern
	webhookPath       = regexp.MustCompile(`^/(?:[A-Za-z0-9._~-]+(?:/[A-Za-z0-9._~-]+)*)?$`)
)

const (
	maxID       = 256  // characters of any id
	maxQueue    = 128  // of a queue
	maxCallName = 128  // of a workflow call
	maxPath     = 2048 // of a webhook
)

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// didYouMean is the hint for a name that is not known: the nearest known one,
// or all of them if none is near.
func didYouMean(format, name string, known []string) string {
	best, distance := "", 3
	for _, candidate := range known {
		if d := editDistance(strings.ToLower(name), candidate, distance); d < distance && 2*d < len(candidate) {
			best, distance = candidate, d
		}
	}
	if best != "" {
		return fmt.Sprintf("Did you mean "+format+"?", best)
	}
	if len(known) == 0 {
		return "Remove it."
	}
	quoted := make([]string, len(known))
	for i, candidate := range known {
		quoted[i] = fmt.Sprintf(format, candidate)
	}
	return "Known are " + strings.Join(quoted, ", ") + "."
}

// editDistance counts the insertions, deletions and replacements between two
// names; from limit on the count may be too low.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
