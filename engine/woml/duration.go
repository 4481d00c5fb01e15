package woml

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const durationHint = "Such as 500ms, 1s, 0.5m, 2h or 1d."

var (
	durationPattern = regexp.MustCompile(`^(0|[1-9][0-9]*)(?:\.([0-9]+))?(ms|s|m|h|d)$`)

	errDurationForm  = errors.New("is not a duration: a number and one of ms, s, m, h, d")
	errDurationWhole = errors.New("is not a whole number of milliseconds")
)

// unitMillis is the length of each unit in milliseconds.
var unitMillis = map[string]int64{"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

// duration reads a duration as WOML writes it: a number without leading zeros,
// with decimals if need be, and a unit. It must be a whole number of
// milliseconds, at least one and at most longest. The decimals are exact:
// 0.07s is 70 ms. The error completes a sentence that starts with the value.
func duration(text string, longest time.Duration) (time.Duration, error) {
	parts := durationPattern.FindStringSubmatch(text)
	if parts == nil {
		return 0, errDurationForm
	}
	unit := unitMillis[parts[3]]
	whole, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || whole > math.MaxInt64/unit/2 {
		return 0, tooLong(longest)
	}
	millis := whole * unit
	if decimals := strings.TrimRight(parts[2], "0"); decimals != "" {
		if len(decimals) > 10 { // 1d / 1024 has ten, and no longer ones are whole
			return 0, errDurationWhole
		}
		fraction, scale := int64(0), int64(1)
		for _, digit := range decimals {
			fraction, scale = fraction*10+int64(digit-'0'), scale*10
		}
		if fraction*unit%scale != 0 {
			return 0, errDurationWhole
		}
		millis += fraction * unit / scale
	}
	switch {
	case millis < 1:
		return 0, errors.New("must be at least 1ms")
	case millis > longest.Milliseconds():
		return 0, tooLong(longest)
	}
	return time.Duration(millis) * time.Millisecond, nil
}

func tooLong(longest time.Duration) error {
	if days := longest / (24 * time.Hour); days > 1 {
		return fmt.Errorf("must be at most %dd", days)
	}
	return fmt.Errorf("must be at most %dh", longest/time.Hour)
}
