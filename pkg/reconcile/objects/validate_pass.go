package objects

import (
	"errors"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// passValidation are checks of a spec that only apply to passes with certain stages: other
// passes, and all read-only commands, accept such a spec.
var passValidation = []struct {
	stage    plan.StageName
	validate func(*v1beta2.FoundationDBCluster) error
}{
	{plan.StageUpdateDatabaseConfiguration, (*v1beta2.FoundationDBCluster).ValidateRegions},
	{plan.StageUpdateConfigMap, (*v1beta2.FoundationDBCluster).ValidateKnobs},
	{plan.StageUpdateConfigMap, ValidateOwned},
}

// ValidateForStages returns the errors for which a pass with these stages refuses a spec, beside those of Validate.
func ValidateForStages(c *v1beta2.FoundationDBCluster, stages []plan.Stage) error {
	var errs []error
	for _, v := range passValidation {
		if slices.ContainsFunc(stages, func(s plan.Stage) bool { return s.Name == v.stage }) {
			errs = append(errs, v.validate(c))
		}
	}
	return errors.Join(errs...)
}

// ValidateForPass returns the errors for which a whole pass refuses a spec, beside those of Validate.
func ValidateForPass(c *v1beta2.FoundationDBCluster) error {
	var errs []error
	for _, v := range passValidation {
		errs = append(errs, v.validate(c))
	}
	return errors.Join(errs...)
}
