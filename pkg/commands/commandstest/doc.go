// Package commandstest runs commands on simulated clusters, for the tests of all packages of commands.
package commandstest
