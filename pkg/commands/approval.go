package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// approval is what the user confirmed. The zero value permits nothing.
type approval struct {
	everything bool
	// asked is true once the user confirmed a plan.
	asked bool
	// exact holds the fingerprints of the actions that were shown.
	exact map[string]bool
	// cuttable holds the shown actions that can be interrupted: their remainder is approved as
	// well.
	cuttable []plan.Action
	// kinds holds the action kinds whose subjects were unknown when the plan was shown.
	kinds map[string]bool
	// made holds the objects that approved actions create.
	made map[objectName]bool

	// named is the resource whose name the user typed to confirm a loss of data; nil if none.
	named *identity

	// of is the resource that the approval is for; nil where that makes no difference.
	of *identity
	// spec is the spec that a pass read last, and wrote applies what a pass has written to it
	// since; nil if none.
	spec  *specs
	wrote func(*specs)
}

// objectName identifies a pod or a PVC of the cluster.
type objectName struct {
	kind plan.ObjectKind
	name string
}

// add approves all actions of a plan.
func (a *approval) add(v planned.PlanView) {
	if a.exact == nil {
		a.exact = map[string]bool{}
	}
	a.asked, a.kinds = true, map[string]bool{}
	for _, item := range v.Items {
		if len(item.Provisional) > 0 {
			a.kinds[item.Kind] = true
			continue
		}
		for _, part := range parts(item.Details) {
			a.exact[plan.Fingerprint(part)] = true
		}
		if plan.EffectOf(item.Details).AtMost > 0 {
			a.cuttable = append(a.cuttable, item.Details)
		}
	}
}

// passed ends what was approved for a single pass only: the kinds.
func (a *approval) passed() { a.kinds = nil }

func (a *approval) permits(_ plan.StageName, action plan.Action) bool {
	permitted := a.covers(action)
	if permitted {
		a.creates(action)
	}
	return permitted
}

// creates remembers an object that is about to be created with approval: after a prompt it may
// have another name than the one that was shown.
func (a *approval) creates(action plan.Action) {
	switch action := action.(type) { //nolint:gochecksumtype // only these get labels and files once they run
	case plan.CreatePod:
		a.made = with(a.made, objectName{plan.KindPod, action.Name})
	case plan.CreatePVC:
		a.made = with(a.made, objectName{plan.KindPVC, action.Name})
	}
}

// with adds a member to a set that may be nil.
func with[T comparable](set map[T]bool, member T) map[T]bool {
	if set == nil {
		set = map[T]bool{}
	}
	set[member] = true
	return set
}

func (a *approval) covers(action plan.Action) bool {
	kind := plan.KindOf(action)
	switch {
	case plan.LosesData(action):
		return a.named != nil && (a.exact[plan.Fingerprint(action)] || a.isRest(action))
	case a.everything, a.kinds[kind]:
		return true
	case a.equips(action):
		return true
	case plan.Records(action):
		// Status updates during the pass belong to the approved actions.
		return a.asked
	}
	each := parts(action)
	return len(each) > 0 && !slices.ContainsFunc(each, func(part plan.Action) bool { return !a.exact[plan.Fingerprint(part)] })
}

// isRest reports whether an action is the remainder of an approved one.
func (a *approval) isRest(action plan.Action) bool {
	return slices.ContainsFunc(a.cuttable, func(whole plan.Action) bool { return plan.IsRestOf(action, whole) })
}

// equips reports whether an action adds the labels, annotations and files that an object
// created by the approved plan needs once it runs: its name is unknown at planning time.
func (a *approval) equips(action plan.Action) bool {
	switch action := action.(type) { //nolint:gochecksumtype // all others are approved by themselves
	case plan.SyncPodFiles:
		return a.made[objectName{plan.KindPod, action.Pod}]
	case plan.PatchMetadata:
		return a.made[objectName{action.Kind, action.Name}]
	}
	return false
}

// addFile approves the items of a plan file and nothing else: what was provisional when the
// plan was made must turn out as the plan has it.
func (a *approval) addFile(p *planned.ApprovedPlan) {
	*a = approval{
		asked: true, exact: map[string]bool{},
		of: &identity{p.Observed.UID, p.Observed.Generation},
	}
	for _, item := range p.Items {
		if kind, name, ok := item.Created(); ok {
			a.made = with(a.made, objectName{kind, name})
		}
		a.exact[item.Fingerprint] = true
		if whole := item.Cuttable(); whole != nil {
			a.cuttable = append(a.cuttable, whole)
		}
		if deletion, ok := item.Deletion(); ok {
			for _, part := range parts(deletion) {
				a.exact[plan.Fingerprint(part)] = true
			}
		}
	}
}

// parts returns the actions that an action can be split into: a retry deletes what the first
// attempt left.
func parts(a plan.Action) []plan.Action {
	d, ok := a.(plan.DeleteGroupObjects)
	if !ok {
		return []plan.Action{a}
	}
	var each []plan.Action
	add := func(part plan.DeleteGroupObjects, uid string) {
		part.Group, part.Undrained = d.Group, d.Undrained
		if id, known := d.UIDs[uid]; known {
			part.UIDs = map[string]types.UID{uid: id}
		}
		each = append(each, part)
	}
	if d.Pod != "" {
		add(plan.DeleteGroupObjects{Pod: d.Pod}, d.Pod)
	}
	if d.Claim != "" {
		add(plan.DeleteGroupObjects{Claim: d.Claim}, d.Claim)
	}
	if d.Service != "" {
		add(plan.DeleteGroupObjects{Service: d.Service}, "service/"+d.Service)
	}
	return each
}

// declined returns the failure of a run that the user did not confirm. It includes what was
// done before: a prompt may come after the first change.
func (e *Env) declined() *failure {
	return &failure{code: ExitUnconfirmed, err: errors.New("declined (" + e.doneSoFar() + ")")}
}

// doneSoFar describes what the passes of this command have already done.
func (e *Env) doneSoFar() string {
	if e.acted == 0 {
		return "nothing was changed"
	}
	return phrase.Count(e.acted, "action") + phrase.Either(e.acted,
		" was carried out before", " were carried out before")
}

// confirm asks a yes-or-no question on a terminal and waits for the answer. No answer means no.
func (e *Env) confirm(ctx context.Context, question string) error {
	fmt.Fprintf(e.ErrOut, "%s [y/N] ", question)
	line, err := e.readLine(ctx)
	if err != nil {
		fmt.Fprintln(e.ErrOut)
		return err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	default:
		return e.declined()
	}
}

// confirmName requires the user to type the name of what is changed, which is not typed by
// habit.
func (e *Env) confirmName(ctx context.Context, noun, name string) error {
	fmt.Fprintf(e.ErrOut, "%s ", nameQuestion(noun))
	line, err := e.readLine(ctx)
	if err != nil {
		fmt.Fprintln(e.ErrOut)
		return err
	}
	if strings.TrimSpace(line) != name {
		return &failure{code: ExitUnconfirmed, err: fmt.Errorf("declined: the answer does not match %s (%s)", name, e.doneSoFar())}
	}
	return nil
}

func nameQuestion(noun string) string {
	return "Data may be lost. Type the name of the " + noun + " to confirm:"
}

// readLine reads one line of input, and returns early when the context ends. The reader
// goroutine then ends with the program.
func (e *Env) readLine(ctx context.Context) (string, error) {
	type reply struct {
		line string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		line, err := bufio.NewReader(e.In).ReadString('\n')
		replies <- reply{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", causeOf(ctx, ctx.Err())
	case r := <-replies:
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			return "", fmt.Errorf("reading the answer: %w", r.err)
		}
		return r.line, nil
	}
}
