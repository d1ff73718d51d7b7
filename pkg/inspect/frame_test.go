package inspect

import (
	"testing"
	"time"
)

func TestHideSecretsRedactsConnectionStrings(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a connection string":       {"set to a_b:Xy12@10.0.0.1:4501,10.0.0.2:4501", "set to a_b:***@10.0.0.1:4501,10.0.0.2:4501"},
		"one within JSON":           {`{"a":"x:y@[::1]:4501:tls"}`, `{"a":"x:***@[::1]:4501:tls"}`},
		"an address":                {"10.0.0.1:4501", "10.0.0.1:4501"},
		"a time and a mail address": {"12:00 me@here", "12:00 me@here"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := HideSecrets(tc.text); got != tc.want {
				t.Errorf("%s", got)
			}
		})
	}
}

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
