package inspect

import (
	"testing"
	"time"
)

func TestFrequentReadsKeepProgressSamplesApart(t *testing.T) {
	h := &DrainHistory{Gap: 10 * time.Second}
	var p *Progress
	for i := range 10 { // every two seconds, with one read delivered twice
		h.add("p", noon.Add(time.Duration(i)*2*time.Second), int64(1000-i))
		p = h.add("p", noon.Add(time.Duration(i)*2*time.Second), int64(1000-i))
	}
	if len(p.window) > 4 {
		t.Errorf("%d samples of 18 seconds", len(p.window))
	}
	if last := p.window[len(p.window)-1]; last.left != 991 {
		t.Errorf("the newest sample has %d left", last.left)
	}
}
