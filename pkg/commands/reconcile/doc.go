// Package reconcile holds the commands reconcile and plan.
package reconcile
