package monitor

import (
	"context"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
)

const (
	// forecastLasts is how long a forecast of the same actions is shown.
	forecastLasts = 5 * time.Minute
	// forecastInterval is after how many times its duration the next forecast may begin: they take at most a
	// twentieth of a processor.
	forecastInterval = 20
)

// foresight is the last forecast, which costs more than a preview.
type foresight struct {
	// digest is that of the actions.
	digest   string
	forecast *planned.Forecast
	made     time.Time
	took     time.Duration
}

// isOf reports whether the forecast is still that of the same actions.
func (f foresight) isOf(digest string, now time.Time) bool {
	return f.digest == digest && now.Sub(f.made) < forecastLasts
}

// isDue reports whether another forecast may begin.
func (f foresight) isDue(now time.Time) bool { return now.Sub(f.made) >= forecastInterval*f.took }

// over adds a forecast to a preview: the last one while the same is to be done, else another one if that is due.
// It returns the last one from now on.
func (f foresight) over(ctx context.Context, r *apply.Run, view *planned.PlanView, now func() time.Time) (foresight, error) {
	began := now()
	switch {
	case f.isOf(view.Digest, began):
		view.Forecast = f.forecast
		return f, nil
	case !f.isDue(began):
		return f, nil
	}
	if err := r.Foresee(ctx, view); err != nil {
		return f, err
	}
	return foresight{digest: view.Digest, forecast: view.Forecast, made: began, took: now().Sub(began)}, nil
}
