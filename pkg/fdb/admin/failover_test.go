package admin_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// pod is a place that answers after a while, or never.
type pod struct {
	after  time.Duration
	result admin.Result
	err    error
	// unresponsive does not respond until the client stops waiting.
	unresponsive bool
	requested    int
}

func (p *pod) Run(ctx context.Context, _ admin.Command) (admin.Result, error) {
	p.requested++
	if p.unresponsive {
		<-ctx.Done()
		return admin.Result{}, &admin.TransportError{Started: true, Where: "an unresponsive pod", Err: ctx.Err()}
	}
	select {
	case <-time.After(p.after):
		return p.result, p.err
	case <-ctx.Done():
		return admin.Result{}, &admin.TransportError{Started: true, Where: "a slow pod", Err: ctx.Err()}
	}
}

func (p *pod) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("no session is opened here")
}

func says(text string) *pod {
	return &pod{after: time.Second, result: admin.Result{Stdout: []byte(text)}}
}

func settles(r admin.Result) bool { return string(r.Stdout) != "doubt" }

func lostIn(where string) *pod {
	return &pod{err: &admin.TransportError{Started: true, Where: where, Err: errors.New("broken pipe")}}
}

// What changes nothing may run as often as it takes. The node of a pod that was the best one can
// be down for most of a minute before Kubernetes reports it.
func TestReadOnlyCommandsAreRetriedInAnotherPod(t *testing.T) {
	const hedgeAfter = 6 * time.Second
	failing := func(code int) *pod { return &pod{result: admin.Result{ExitCode: code}} }
	tests := map[string]struct {
		places []*pod
		reads  admin.Command
		want   string
		// requested is how many places ran it, and took is how long it took.
		requested int
		took      time.Duration
		fails     string
	}{
		"the first one answers":                                   {places: []*pod{says("a"), says("b")}, want: "a", requested: 1, took: time.Second},
		"it is lost in the first one":                             {places: []*pod{lostIn("a"), says("b")}, want: "b", requested: 2, took: time.Second},
		"it is lost in two":                                       {places: []*pod{lostIn("a"), lostIn("b"), says("c")}, want: "c", requested: 3, took: time.Second},
		"the first one does not respond":                          {places: []*pod{{unresponsive: true}, says("b")}, want: "b", requested: 2, took: hedgeAfter + time.Second},
		"two do not respond":                                      {places: []*pod{{unresponsive: true}, {unresponsive: true}, says("c")}, want: "c", requested: 3, took: 2*hedgeAfter + time.Second},
		"the first one is slow, and faster all the same":          {places: []*pod{{after: 8 * time.Second, result: admin.Result{Stdout: []byte("a")}}, {unresponsive: true}}, want: "a", requested: 2, took: 8 * time.Second},
		"the second one fails while the first is slow":            {places: []*pod{{after: 8 * time.Second, result: admin.Result{Stdout: []byte("a")}}, failing(1)}, want: "a", requested: 2, took: 8 * time.Second},
		"what settles nothing waits a little for a better answer": {places: []*pod{{after: 8 * time.Second, result: admin.Result{Stdout: []byte("a")}}, says("doubt")}, want: "a", requested: 2, took: 8 * time.Second},
		"and not for long":                                        {places: []*pod{{unresponsive: true}, says("doubt")}, want: "doubt", requested: 2, took: hedgeAfter + 4*time.Second},
		"an inconclusive result is used without another pod":      {places: []*pod{says("doubt"), says("b")}, want: "doubt", requested: 1, took: time.Second},
		"a tool that fails has answered":                          {places: []*pod{failing(1), says("b")}, want: "", requested: 1},
		"all lose it": {
			places: []*pod{lostIn("a"), lostIn("b")}, requested: 2,
			fails: "losing the command in any of the pods: losing the command in a: broken pipe; losing the command in b: broken pipe",
		},
		"none responds until the time is over": {places: []*pod{{unresponsive: true}, {unresponsive: true}}, requested: 2, took: time.Minute, fails: "context deadline exceeded"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began := time.Now()
				r, err := admin.NewFailover(places(tc.places)...).Run(ctx, admin.Command{Reads: true, HedgeAfter: hedgeAfter, Settles: settles})
				if got := string(r.Stdout); got != tc.want || (err != nil) != (tc.fails != "") {
					t.Errorf("got %q, %v", got, err)
				}
				if err != nil && !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("got %v, want %s", err, tc.fails)
				}
				if took := time.Since(began); took != tc.took {
					t.Errorf("took %s, want %s", took, tc.took)
				}
				if n := requestsOf(tc.places); n != tc.requested {
					t.Errorf("%d pods ran it, want %d", n, tc.requested)
				}
			})
		})
	}
}

func places(pods []*pod) []admin.Transport {
	var all []admin.Transport
	for _, p := range pods {
		all = append(all, p)
	}
	return all
}

func requestsOf(pods []*pod) int {
	n := 0
	for _, p := range pods {
		n += p.requested
	}
	return n
}

// What may change something runs once, however long that takes.
func TestCommandsThatMayChangeStateAreNotRetriedInAnotherPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &pod{after: 30 * time.Second, result: admin.Result{Stdout: []byte("a")}}
		all := []*pod{slow, says("b")}
		r, err := admin.NewFailover(places(all)...).Run(t.Context(), admin.Command{})
		if string(r.Stdout) != "a" || err != nil || requestsOf(all) != 1 {
			t.Errorf("%q and %v after %d pods", r.Stdout, err, requestsOf(all))
		}
		all = []*pod{lostIn("a"), says("b")}
		if _, err := admin.NewFailover(places(all)...).Run(t.Context(), admin.Command{}); err == nil || requestsOf(all) != 1 {
			t.Errorf("%v after %d pods", err, requestsOf(all))
		}
	})
}

// Who has found that a pod does not answer does not wait for it again with every
// command.
func TestFailoverPrefersThePodThatAnsweredLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		removed := &pod{unresponsive: true}
		f := admin.NewFailover(places([]*pod{removed, says("b")})...)
		for range 3 {
			if _, err := f.Run(t.Context(), admin.Command{Reads: true, HedgeAfter: 2 * time.Second}); err != nil {
				t.Fatal(err)
			}
		}
		if removed.requested != 1 {
			t.Errorf("it ran %d commands", removed.requested)
		}
	})
}

// A pod that is cut off from the others calls the database unavailable. It is not preferred
// later.
func TestAPodWithAnInconclusiveAnswerIsNotPreferred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &pod{after: 7 * time.Second, result: admin.Result{Stdout: []byte("a")}}
		f := admin.NewFailover(places([]*pod{slow, says("doubt")})...)
		for range 3 {
			r, err := f.Run(t.Context(), admin.Command{Reads: true, HedgeAfter: 6 * time.Second, Settles: settles})
			if string(r.Stdout) != "a" || err != nil {
				t.Errorf("%s, %v", r.Stdout, err)
			}
		}
		if slow.requested != 3 {
			t.Errorf("it ran %d commands", slow.requested)
		}
	})
}
