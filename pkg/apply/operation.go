package apply

import (
	"context"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// operationLimit bounds each write of the operation: it only informs others.
const operationLimit = 10 * time.Second

// operate makes the passes of a command that waits an operation that others see, until the returned
// function is called.
func (p *pacing) operate(ctx context.Context) (end func()) {
	operator, is := p.Session.(reconcile.Operator)
	if !is || !p.Wait {
		return func() {}
	}
	operator.SetOperation(reconcile.Operation{Command: strings.Join(p.Change.Command(), " "), Holder: p.Env.Holder, Since: p.Env.Clock.Now().UTC()})
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), operationLimit) // the command may have been interrupted
		defer cancel()
		if err := operator.EndOperation(ctx); err != nil {
			p.Env.Logf("warning: others see this operation for %s more: %v", reconcile.OperationTerm, err)
		}
	}
}

// beat reports that the operation goes on. A failure ends nothing: the next pass reports it too.
func (p *pacing) beat(ctx context.Context) {
	operator, is := p.Session.(reconcile.Operator)
	if !is {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, operationLimit)
	defer cancel()
	if err := operator.BeatOperation(ctx); err != nil && ctx.Err() == nil && p.Env.Global.Verbose > 0 {
		p.Env.Logf("the operation could not be reported: %v", err)
	}
}
