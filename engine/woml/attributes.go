package woml

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// What names look like, as the reference has it.
var (
	workflowIDPattern = regexp.MustCompile(`^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$`)
	queuePattern      = regexp.MustCompile(`^[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*$`)
	secretNamePattern = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
)

// Bounds of names, in bytes.
const (
	maxID       = 256 // of any id
	maxCallName = 128 // of a workflow call
)

// form is what the value of an attribute must look like; what completes the sentence "... is not".
type form struct {
	code       string
	pattern    *regexp.Regexp
	longest    int
	what, hint string
}

var (
	workflowID = form{"WOML_INVALID_ID", workflowIDPattern, maxID,
		"the id of a workflow: lower-case words with hyphens between them, at most 256 characters", "Such as fulfill-paid-order."}
	// partID is the id of a step or a trigger: a name in JavaScript.
	partID = form{"WOML_INVALID_ID", regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`), maxID,
		"an id: a lower-case letter, then letters and digits, at most 256 characters",
		"Such as createFulfillment; scripts say context.steps.createFulfillment."}
	queueName = form{"WOML_CONFIG_QUEUE_INVALID", queuePattern, 128,
		"the name of a queue: lower-case words with one dot, underscore or hyphen between them, at most 128 characters",
		"Such as orders or payments.high."}
	webhookPath = form{"WOML_WEBHOOK_PATH_INVALID", regexp.MustCompile(`^/(?:[A-Za-z0-9._~-]+(?:/[A-Za-z0-9._~-]+)*)?$`), 2048,
		"the path of a webhook",
		"Write fixed segments such as /webhooks/orders: no parameters, no slash at the end, at most 2048 characters, and not below /_woml."}
	webhookMethod = form{"WOML_WEBHOOK_METHOD_UNSUPPORTED", regexp.MustCompile(`^POST$`), 4,
		"the method of a webhook, which takes POST only", `Write method="POST", or leave it out.`}
	webhookAuth = form{"WOML_WEBHOOK_AUTH_INVALID", regexp.MustCompile(`^(?:none|bearer)$`), 6,
		"a way to authenticate a webhook", `Write "bearer" or "none".`}
	backoff = form{"WOML_RETRY_BACKOFF_INVALID", regexp.MustCompile(`^(?:fixed|exponential)$`), 11,
		"a backoff", `Write "fixed" or "exponential".`}
)

// amount is a whole number that an attribute gives.
type amount struct {
	code        string
	least, most int
	hint        string
}

const maxPolicy = 1_000_000 // of concurrency and of a rate's count

var (
	concurrency = amount{"WOML_CONFIG_CONCURRENCY_INVALID", 1, maxPolicy, `Such as concurrency="4".`}
	maxAttempts = amount{"WOML_RETRY_INVALID", 1, 10, "It is the number of attempts in all: 3 means at most two more after the first."}
	// throttled bounds the attempts that a 429 makes free.
	throttled = amount{"WOML_RETRY_INVALID", 0, 100, "It is the number of attempts answered with 429 that do not count towards retry."}
)

// The longest durations.
const (
	maxPolicyDuration = 365 * 24 * time.Hour
	maxRetryDelay     = 24 * time.Hour
)

// formed reports an attribute that does not have its form.
func (c *checker) formed(a *attribute, f form) {
	if len(a.value) > f.longest || !f.pattern.MatchString(a.value) {
		c.fail(a.valueStart, f.code, fmt.Sprintf("%s is not %s.", excerpt(a.value), f.what), f.hint)
	}
}

// number reads an optional whole number; what is wrong is reported.
func (c *checker) number(e *element, name string, absent int, n amount) (value int, ok bool) {
	a := e.attribute(name)
	if a == nil {
		return absent, true
	}
	value, ok = whole(a.value, n.least, n.most)
	if !ok {
		c.fail(a.valueStart, n.code, fmt.Sprintf("%s %s is not a whole number from %d to %d.", upperFirst(name), excerpt(a.value), n.least, n.most), n.hint)
	}
	return value, ok
}

// whole reads a whole number without leading zeros or a plus.
func whole(text string, least, most int) (int, bool) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most || strconv.Itoa(n) != text {
		return 0, false
	}
	return n, true
}

// period reads an optional duration; what is wrong is reported.
func (c *checker) period(e *element, name string, absent, longest time.Duration, code string) (d time.Duration, ok bool) {
	a := e.attribute(name)
	if a == nil {
		return absent, true
	}
	d, err := duration(a.value, longest)
	if err != nil {
		c.fail(a.valueStart, code, fmt.Sprintf("%s %s %v.", upperFirst(name), excerpt(a.value), err), durationHint)
	}
	return d, err == nil
}

// rate reads count/duration, such as 100/1m.
func (c *checker) rate(a *attribute) Rate {
	const code, hint = "WOML_CONFIG_RATE_LIMIT_INVALID", `Such as rate-limit="100/1m": at most 100 first starts in any minute.`
	number, window, _ := strings.Cut(a.value, "/")
	count, ok := whole(number, 1, maxPolicy)
	if !ok || number == a.value {
		c.fail(a.valueStart, code, fmt.Sprintf("Rate limit %s is not a whole number from 1 to %d, a slash and a duration.", excerpt(a.value), maxPolicy), hint)
		return Rate{}
	}
	per, err := duration(window, maxPolicyDuration)
	if err != nil {
		c.fail(a.valueStart, code, fmt.Sprintf("The duration in rate limit %s %v.", excerpt(a.value), err), hint)
	}
	return Rate{Count: count, Per: per}
}

// require finds an attribute that the element must have, nil if it has not.
func (c *checker) require(e *element, name string) *attribute {
	a := e.attribute(name)
	if a == nil {
		c.fail(e.start, "WOML_MISSING_ATTRIBUTE", fmt.Sprintf("<%s> needs the attribute %q.", e.name, name), fmt.Sprintf(`Add %s="...".`, name))
	}
	return a
}

// id checks a required id.
func (c *checker) id(e *element, f form) string {
	a := c.require(e, "id")
	if a == nil {
		return ""
	}
	c.formed(a, f)
	return a.value
}

// uniqueID reports an id that another element in ids has.
func (c *checker) uniqueID(e *element, ids map[string]bool, id, code, what string) {
	if ids[id] && id != "" {
		c.fail(e.attribute("id").valueStart, code, fmt.Sprintf("Two %s have the id %s.", what, excerpt(id)), "Give this one another id.")
	}
	ids[id] = true
}

// metadata returns the value of an optional text, which must not be blank.
func (c *checker) metadata(e *element, name string) string {
	a := e.attribute(name)
	if a == nil {
		return ""
	}
	if strings.TrimFunc(a.value, isSpace) == "" {
		c.fail(a.valueStart, "WOML_EMPTY_METADATA", fmt.Sprintf("Attribute %q of <%s> is empty.", name, e.name), "Give it a text, or leave it out.")
	}
	return a.value
}

const durationHint = "Such as 500ms, 1s, 0.5m, 2h or 1d."

var (
	durationPattern = regexp.MustCompile(`^(0|[1-9][0-9]*)(?:\.([0-9]+))?(ms|s|m|h|d)$`)

	// unitMillis is the length of each unit in milliseconds.
	unitMillis = map[string]int64{"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
)

// duration reads a duration as WOML writes it: a number without leading zeros, with decimals if need be, and a unit. It
// must be a whole number of milliseconds, at least one and at most longest. The decimals are exact: 0.07s is 70 ms. The
// error completes a sentence that starts with the value.
func duration(text string, longest time.Duration) (time.Duration, error) {
	parts := durationPattern.FindStringSubmatch(text)
	if parts == nil {
		return 0, errors.New("is not a duration: a number and one of ms, s, m, h, d")
	}
	decimals := strings.TrimRight(parts[2], "0")
	millis := new(big.Rat)
	switch {
	case len(parts[1]) > 18:
		return 0, tooLong(longest)
	case len(decimals) <= 10: // 1d / 1024 has ten, and no longer ones are whole
		millis.SetString(parts[1] + "." + decimals + "0")
		millis.Mul(millis, big.NewRat(unitMillis[parts[3]], 1))
	}
	switch {
	case len(decimals) > 10 || !millis.IsInt():
		return 0, errors.New("is not a whole number of milliseconds")
	case millis.Sign() == 0:
		return 0, errors.New("must be at least 1ms")
	case millis.Cmp(big.NewRat(longest.Milliseconds(), 1)) > 0:
		return 0, tooLong(longest)
	}
	return time.Duration(millis.Num().Int64()) * time.Millisecond, nil
}

func tooLong(longest time.Duration) error {
	if days := longest / (24 * time.Hour); days > 1 {
		return fmt.Errorf("must be at most %dd", days)
	}
	return fmt.Errorf("must be at most %dh", longest/time.Hour)
}
