{{- define "drawknife.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "drawknife.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "drawknife.selectorLabels" -}}
app.kubernetes.io/name: {{ include "drawknife.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "drawknife.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "drawknife.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* metadata of an object: the context and the last part of its name, "" for none. */}}
{{- define "drawknife.metadata" -}}
{{- $root := index . 0 -}}
name: {{ include "drawknife.fullname" $root }}{{ index . 1 }}
labels:
  {{- include "drawknife.labels" $root | nindent 2 }}
{{- with $root.Values.additionalAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "drawknife.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "drawknife.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "drawknife.image" -}}
{{- $image := .Values.controller.image -}}
{{- if kindIs "string" $image }}{{ $image }}
{{- else if $image.digest }}{{ $image.repository }}@{{ $image.digest }}
{{- else }}{{ $image.repository }}:{{ default .Chart.AppVersion $image.tag }}
{{- end }}
{{- end }}

{{/* The container's security context: the hardened default with what the values say on top. Empty mappings say nothing, null
takes a field away. */}}
{{- define "drawknife.securityContext" -}}
{{- $out := dict
  "privileged" false "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true
  "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532
  "capabilities" (dict "drop" (list "ALL")) "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- range $key, $value := .Values.controller.securityContext -}}
{{- if kindIs "invalid" $value }}{{ $_ := unset $out $key }}
{{- else if not (kindIs "map" $value) }}{{ $_ := set $out $key $value }}
{{- else if $value }}{{ $_ := set $out $key (merge (dict) $value (ternary (index $out $key) (dict) (hasKey $out $key))) }}
{{- end -}}
{{- end -}}
{{- toYaml $out }}
{{- end }}

{{/* The part of the values that says how the controller behaves, in the layout the user wrote it in. */}}
{{- define "drawknife.settings" -}}
{{- $out := dict -}}
{{- range $key := list "settings" "webhook" "logLevel" "logEncoding" "logConfig" "logOutputPaths" "logErrorOutputPaths" "clusterName" "clusterEndpoint" "aws" -}}
{{- if hasKey $.Values $key }}{{ $_ := set $out $key (index $.Values $key) }}{{ end -}}
{{- end -}}
{{- $controller := omit .Values.controller "image" "securityContext" "env" "envFrom" "resources" "extraVolumeMounts" "sidecarContainer" "sidecarVolumeMounts" "containerName" -}}
{{- $_ := set $out "controller" $controller -}}
{{- if not (or (include "drawknife.simulates" .) (include "drawknife.named" .)) }}
{{- fail "settings.clusterName is required: it is in the tags of the instances; set the name of the EKS cluster" }}
{{- end }}
{{- tpl (toYaml $out) . }}
{{- end }}

{{/* "true" if something says what the cluster is called: a layout of any generation, the container's environment, or a ConfigMap
of an old release, whose content is not known here. */}}
{{- define "drawknife.named" -}}
{{- $settings := default dict .Values.settings }}
{{- if or $settings.clusterName (default dict $settings.aws).clusterName .Values.clusterName $settings.legacyConfigMap .Values.controller.envFrom }}true
{{- else }}
{{- range .Values.controller.env }}{{ if has .name (list "CLUSTER_NAME" "LEGACY_CONFIG_MAP") }}true{{ end }}{{ end }}
{{- end }}
{{- end }}

{{/* "true" with simulated nodes. */}}
{{- define "drawknife.simulates" -}}
{{- if eq (toString (default "aws" (default dict .Values.settings).provider)) "fake" }}true{{ end }}
{{- end }}

{{/* "true" with the conversion webhook. */}}
{{- define "drawknife.webhook" -}}
{{- if and (default dict .Values.webhook).enabled (ne (toString (default dict .Values.settings).serveBeta) "false") }}true{{ end }}
{{- end }}
