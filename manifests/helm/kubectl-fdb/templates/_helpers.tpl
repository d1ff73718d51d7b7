{{/* The name of all objects: that of the release. */}}
{{- define "kubectl-fdb.name" -}}
{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- end -}}

{{/* Where the cluster and the objects of the chart are. */}}
{{- define "kubectl-fdb.namespace" -}}
{{ .Values.namespace | default .Release.Namespace }}
{{- end -}}

{{- define "kubectl-fdb.account" -}}
{{ .Values.serviceAccount.name | default (include "kubectl-fdb.name" .) }}
{{- end -}}

{{- define "kubectl-fdb.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag }}{{ end }}
{{- end -}}
{{- end -}}

{{- define "kubectl-fdb.selector" -}}
app.kubernetes.io/name: kubectl-fdb
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "kubectl-fdb.labels" -}}
{{ include "kubectl-fdb.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The pod of an object in files/, with the values. Takes a dict of root, pod (its template) and args. */}}
{{- define "kubectl-fdb.pod" -}}
{{- $root := .root -}}
{{- $v := $root.Values -}}
{{- $spec := .pod.spec -}}
{{- $c := index $spec.containers 0 -}}
{{- $_ := set $c "image" (include "kubectl-fdb.image" $root) -}}
{{- $_ := set $c "imagePullPolicy" $v.image.pullPolicy -}}
{{- $_ := set $c "args" .args -}}
{{- $_ := set $c "resources" $v.resources -}}
{{- range $port := $c.ports -}}
{{- $_ := set $port "containerPort" (int $v.metrics.port) -}}
{{- end -}}
{{- $_ := set $spec "serviceAccountName" (include "kubectl-fdb.account" $root) -}}
{{- range $key := list "imagePullSecrets" "nodeSelector" "tolerations" "affinity" -}}
{{- with index $v $key -}}
{{- $_ := set $spec $key . -}}
{{- end -}}
{{- end -}}
{{- $metadata := dict "labels" (merge (include "kubectl-fdb.selector" $root | fromYaml) $v.podLabels) -}}
{{- with $v.podAnnotations -}}
{{- $_ := set $metadata "annotations" . -}}
{{- end -}}
{{- dict "metadata" $metadata "spec" $spec | toYaml -}}
{{- end -}}

{{/* The flags of all modes. Takes the root. */}}
{{- define "kubectl-fdb.common" -}}
{{- $flags := list "--yes" -}}
{{- if .Values.coexist }}{{ $flags = append $flags "--coexist" }}{{ end -}}
{{- concat $flags .Values.args | toYaml -}}
{{- end -}}
