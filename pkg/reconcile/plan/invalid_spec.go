package plan

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// InvalidField is one error of a spec.
type InvalidField struct {
	// Field is the path of the field or annotation.
	Field string `json:"field"`
	// Message is the whole error, with the value and what it must be.
	Message string `json:"message"`
}

// InvalidFields returns the errors of a validation, each with its field; none for nil.
func InvalidFields(err error) []InvalidField {
	if err == nil {
		return nil
	}
	var all []InvalidField
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			all = append(all, InvalidFields(one)...)
		}
		return all
	}
	if of, is := errors.AsType[*field.Error](err); is {
		return []InvalidField{{Field: of.Field, Message: of.Error()}}
	}
	return []InvalidField{{Message: err.Error()}}
}

// InvalidSpecError returns the errors as one; nil for none.
func InvalidSpecError(fields []InvalidField) error {
	if len(fields) == 0 {
		return nil
	}
	all := make([]error, len(fields))
	for i, f := range fields {
		all[i] = errors.New(f.Message)
	}
	return errors.Join(all...)
}

// withoutSpec are the stages that do the same whatever the spec has: they end or show what users began, or write one
// field that they own.
var withoutSpec = []StageName{
	StageUncordonNodes, StageIncludeTargets, StageStopMaintenance, StageMaintainZone, StagePauseOperators, StageResumeOperators,
	StageHoldLock, StageReleaseLock, StageChangeDenyList,
	StageUpdateStatus, // which decides nothing by an invalid spec
}

// NeedsSpec reports whether any of the stages decides by the spec.
func NeedsSpec(all []Stage) bool {
	others := func(s Stage) bool { return s.Name != StageUpdateStatus }
	return !slices.ContainsFunc(all, others) ||
		slices.ContainsFunc(all, func(s Stage) bool { return !slices.Contains(withoutSpec, s.Name) })
}
