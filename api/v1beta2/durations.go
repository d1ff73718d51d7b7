package v1beta2

import "time"

// Never is the longest duration of a spec: a hundred years. Longer ones are truncated
// to it, so that neither they nor their sums overflow.
const Never = 100 * 365 * 24 * time.Hour

// Seconds returns a number of seconds as a duration, between -Never and
// Never.
func Seconds(n int64) time.Duration { return spanOf(n, time.Second) }

// Minutes returns a number of minutes as a duration, between -Never and
// Never.
func Minutes(n int64) time.Duration { return spanOf(n, time.Minute) }

func spanOf(n int64, unit time.Duration) time.Duration {
	longest := int64(Never / unit)
	return time.Duration(min(max(n, -longest), longest)) * unit
}
