// Package faults makes things go wrong on purpose: pods that do not run,
// commands that are refused, slow or cut short, and API requests that fail.
// Every fault is set by name and ends when it is cleared; none is random.
package faults

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// PodAnnotation on a pod lists its faults, separated by commas.
const PodAnnotation = "sandbox.kubectl-fdb/fault"

// Pod is what is wrong with one pod.
type Pod struct {
	Pending          bool // its containers are not made
	ImagePullBackOff bool // its images cannot be pulled
	CrashLoop        bool // its containers end as soon as they start
	NotReady         bool // it runs and reports that it is not ready
	StuckTerminating bool // when deleted, its containers end and it stays
	ExecRefused      bool // no command can be run in it
	ExecDelay        time.Duration
	ExecCutBytes     int // commands lose their connection after so many bytes of output; 0 is never
}

// flags are the faults that are on or off.
func (p *Pod) flags() map[string]*bool {
	return map[string]*bool{
		"Pending": &p.Pending, "ImagePullBackOff": &p.ImagePullBackOff, "CrashLoop": &p.CrashLoop,
		"NotReady": &p.NotReady, "StuckTerminating": &p.StuckTerminating, "ExecRefused": &p.ExecRefused,
	}
}

// PodNames are the faults ParsePod knows, for messages.
const PodNames = "Pending, ImagePullBackOff, CrashLoop, NotReady, StuckTerminating, ExecRefused, ExecSlow=DURATION, ExecCut=BYTES"

// ParsePod reads the value of PodAnnotation; the empty text is no fault.
func ParsePod(text string) (Pod, error) {
	var p Pod
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		if err := p.add(word); err != nil {
			return Pod{}, err
		}
	}
	return p, nil
}

func (p *Pod) add(word string) error {
	name, value, hasValue := strings.Cut(word, "=")
	var err error
	switch flag := p.flags()[name]; {
	case flag != nil && !hasValue:
		*flag = true
	case name == "ExecSlow" && hasValue:
		p.ExecDelay, err = time.ParseDuration(value)
	case name == "ExecCut" && hasValue:
		p.ExecCutBytes, err = positive(value)
	default:
		return fmt.Errorf("unknown pod fault %q: want %s", word, PodNames)
	}
	if err != nil {
		return fmt.Errorf("read pod fault %q: %w", word, err)
	}
	return nil
}

func positive(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil && n < 1 {
		return 0, fmt.Errorf("%d is not positive", n)
	}
	return n, err
}
