package admin

// Wrapped is the command line that PodExec runs in a container.
var Wrapped = wrapped

// LookupScript and ParseLookups are both ends of ResolveNames.
var LookupScript = lookupScript

// ParseLookups reads what LookupScript prints.
var ParseLookups = parseLookups
