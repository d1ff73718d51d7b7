package v1beta2

import "time"

// Never is the longest duration of a spec: a hundred years. Longer ones are as long as
// this, so that neither they nor sums of them overflow.
const Never = 100 * 365 * 24 * time.Hour

// Seconds is a number of seconds as a duration, from -Never to Never.
func Seconds(n int64) time.Duration { return spanOf(n, time.Second) }

// Minutes is the same for minutes.
func Minutes(n int64) time.Duration { return spanOf(n, time.Minute) }

func spanOf(n int64, unit time.Duration) time.Duration {
	longest := int64(Never / unit)
	return time.Duration(min(max(n, -longest), longest)) * unit
}
