// Package stagestest holds the clusters that tests of stages begin with, and what compares
// decisions. Only tests import it.
package stagestest
