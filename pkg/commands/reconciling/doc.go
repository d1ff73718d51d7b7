// Package reconciling holds the commands reconcile and plan.
package reconciling
