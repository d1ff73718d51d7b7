// Package inspect makes documents of an observed cluster: status, process groups, nodes, exclusions, coordinators,
// locks, backups. It decides what an observation means; package ui prints it.
package inspect
