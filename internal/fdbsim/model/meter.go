package model

import "time"

// meterWindow is over how many seconds rates are computed.
const meterWindow = 10

// meter counts the transactions of tools and clients.
type meter struct{ slots [meterWindow]meterSlot }

// meterSlot is what was counted in one second.
type meterSlot struct {
	second int64
	counts
}

type counts struct{ started, committed, conflicted, reads, writes, readBytes, writtenBytes int64 }

// at is where to count what happens now.
func (m *meter) at(now time.Time) *counts {
	slot := &m.slots[now.Unix()%meterWindow]
	if slot.second != now.Unix() {
		*slot = meterSlot{second: now.Unix()}
	}
	return &slot.counts
}

// Rates are those of tools and clients over the last seconds.
func (db *Database) Rates() Rates { return db.meter.rates(db.Simulation.Now) }

// rates are the means of the last seconds.
func (m *meter) rates(now time.Time) Rates {
	var sum counts
	for _, slot := range m.slots {
		if now.Unix()-slot.second < meterWindow {
			sum.add(slot.counts)
		}
	}
	per := func(n int64) float64 { return float64(n) / meterWindow }
	return Rates{
		Started: per(sum.started), Committed: per(sum.committed), Conflicted: per(sum.conflicted),
		Reads: per(sum.reads), Writes: per(sum.writes), ReadBytes: per(sum.readBytes), WrittenBytes: per(sum.writtenBytes),
	}
}

func (c *counts) add(o counts) {
	c.started += o.started
	c.committed += o.committed
	c.conflicted += o.conflicted
	c.reads += o.reads
	c.writes += o.writes
	c.readBytes += o.readBytes
	c.writtenBytes += o.writtenBytes
}

// Rates are transactions and operations per second.
type Rates struct{ Started, Committed, Conflicted, Reads, Writes, ReadBytes, WrittenBytes float64 }

// Plus adds rates.
func (r Rates) Plus(o Rates) Rates {
	return Rates{
		r.Started + o.Started, r.Committed + o.Committed, r.Conflicted + o.Conflicted,
		r.Reads + o.Reads, r.Writes + o.Writes, r.ReadBytes + o.ReadBytes, r.WrittenBytes + o.WrittenBytes,
	}
}

// Times multiplies rates.
func (r Rates) Times(f float64) Rates {
	return Rates{r.Started * f, r.Committed * f, r.Conflicted * f, r.Reads * f, r.Writes * f, r.ReadBytes * f, r.WrittenBytes * f}
}
