package admin

// Wrapped is the command line that PodExec runs in a container.
var Wrapped = wrapped
