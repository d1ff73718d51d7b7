package apply

import (
	"context"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// operationLimit bounds each write of the operation: it only informs others.
const operationLimit = 10 * time.Second

// beginOperation makes the passes of a command that waits an operation that others see, until the returned
// function is called.
func (p *pacing) beginOperation(ctx context.Context) (end func()) {
	keeper, is := p.Session.(reconcile.OperationKeeper)
	if !is || !p.Wait {
		return func() {}
	}
	keeper.SetOperation(reconcile.Operation{Command: strings.Join(p.Change.Command(), " "), Holder: p.Env.Holder, Since: p.Env.Clock.Now().UTC()})
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), operationLimit) // the command may have been interrupted
		defer cancel()
		if err := keeper.EndOperation(ctx); err != nil {
			p.Env.Logf("warning: others see this operation for %s more: %v", reconcile.OperationTerm, err)
		}
	}
}

// renewOperation reports that the operation goes on. A failure ends nothing: the next pass reports it too.
func (p *pacing) renewOperation(ctx context.Context) {
	keeper, is := p.Session.(reconcile.OperationKeeper)
	if !is {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, operationLimit)
	defer cancel()
	if err := keeper.RenewOperation(ctx); err != nil && ctx.Err() == nil && p.Env.Global.Verbose > 0 {
		p.Env.Logf("the operation could not be reported: %v", err)
	}
}
