package woml

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"faultlab/engine/plain"
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
	best := plain.Nearest(name, known)
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
