package v1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// shape describes the value of a kubelet key.
type shape struct {
	kind string
	// fields has the shapes of an object's fields, by name.
	fields map[string]shape
	// The field of is the shape of each entry of a list, or of each value of a map; nil for other kinds.
	of *shape
}

// The kinds of shapes. The values are the names that users see.
const (
	shapeAny      = "anything"
	shapeBool     = "true or false"
	shapeInteger  = "a whole number"
	shapeNumber   = "a number"
	shapeString   = "a string"
	shapeDuration = "a duration such as 90s"
	shapeList     = "a list"
	shapeMap      = "a map"
	shapeObject   = "an object"
)

func kind(name string) shape                 { return shape{kind: name} }
func listOf(of shape) shape                  { return shape{kind: shapeList, of: &of} }
func mapOf(of shape) shape                   { return shape{kind: shapeMap, of: &of} }
func objectOf(fields map[string]shape) shape { return shape{kind: shapeObject, fields: fields} }

// otherKubeletShapes returns the shapes of the top-level keys that the kubelet's configuration has and KubeletConfiguration lacks
// (kubelet.config.k8s.io/v1beta1 of Kubernetes 1.35 to 1.37).
func otherKubeletShapes() map[string]shape {
	text, integer, duration, boolean := kind(shapeString), kind(shapeInteger), kind(shapeDuration), kind(shapeBool)
	shapes := map[string]shape{
		"allowedUnsafeSysctls":                 listOf(text),
		"authentication":                       authenticationShape(),
		"authorization":                        authorizationShape(),
		"cpuManagerPolicyOptions":              mapOf(text),
		"crashLoopBackOff":                     objectOf(map[string]shape{"maxContainerRestartPeriod": duration}),
		"defaultPodSysctls":                    mapOf(text),
		"enforceNodeAllocatable":               listOf(text),
		"evictionMinimumReclaim":               mapOf(text),
		"featureGates":                         mapOf(boolean),
		"logging":                              loggingShape(),
		"memorySwap":                           objectOf(map[string]shape{"swapBehavior": text}),
		"memoryThrottlingFactor":               kind(shapeNumber),
		"preloadedImagesVerificationAllowlist": listOf(text),
		"qosReserved":                          mapOf(text),
		"registerWithTaints":                   listOf(kind(shapeAny)),
		// Quantities may be written as numbers.
		"reservedMemory":                   listOf(objectOf(map[string]shape{"numaNode": integer, "limits": mapOf(kind(shapeAny))})),
		"shutdownGracePeriodByPodPriority": listOf(objectOf(map[string]shape{"priority": integer, "shutdownGracePeriodSeconds": integer})),
		"staticPodURLHeader":               mapOf(listOf(text)),
		"tlsCipherSuites":                  listOf(text),
		"tlsCurvePreferences":              listOf(integer),
		"topologyManagerPolicyOptions":     mapOf(text),
		"tracing":                          objectOf(map[string]shape{"endpoint": text, "samplingRatePerMillion": integer}),
		"userNamespaces":                   objectOf(map[string]shape{"idsPerPod": integer}),
	}
	for s, keys := range map[*shape][]string{
		&text: {
			"address", "apiVersion", "cgroupDriver", "cgroupRoot", "clusterDomain", "configMapAndSecretChangeDetectionStrategy",
			"containerLogMaxSize", "containerRuntimeEndpoint", "contentType", "cpuManagerPolicy", "hairpinMode",
			"healthzBindAddress", "imagePullCredentialsVerificationPolicy", "imageServiceEndpoint", "kind", "kubeReservedCgroup",
			"kubeletCgroups", "memoryManagerPolicy", "memoryReservationPolicy", "podCIDR", "podLogsDir", "providerID",
			"reservedSystemCPUs", "resolvConf", "showHiddenMetricsForVersion", "staticPodPath", "staticPodURL", "systemCgroups",
			"systemReservedCgroup", "tlsCertFile", "tlsMinVersion", "tlsPrivateKeyFile", "topologyManagerPolicy",
			"topologyManagerScope", "volumePluginDir",
		},
		&boolean: {
			"cgroupsPerQOS", "enableContentionProfiling", "enableControllerAttachDetach", "enableDebugFlagsHandler",
			"enableDebuggingHandlers", "enableProfilingHandler", "enableServer", "enableSystemLogHandler",
			"enableSystemLogQuery", "failCgroupV1", "failSwapOn", "kernelMemcgNotification", "localStorageCapacityIsolation",
			"makeIPTablesUtilChains", "mergeDefaultEvictionSettings", "protectKernelDefaults", "registerNode",
			"rotateCertificates", "runOnce", "seccompDefault", "serializeImagePulls", "serverTLSBootstrap",
			"singleProcessOOMKill",
		},
		&integer: {
			"containerLogMaxFiles", "containerLogMaxWorkers", "eventBurst", "eventRecordQPS", "healthzPort", "iptablesDropBit",
			"iptablesMasqueradeBit", "kubeAPIBurst", "kubeAPIQPS", "maxOpenFiles", "maxParallelImagePulls",
			"nodeLeaseDurationSeconds", "nodeStatusMaxImages", "oomScoreAdj", "podPidsLimit", "port", "readOnlyPort",
			"registryBurst", "registryPullQPS",
		},
		&duration: {
			"containerLogMonitorInterval", "cpuCFSQuotaPeriod", "cpuManagerReconcilePeriod", "evictionPressureTransitionPeriod",
			"fileCheckFrequency", "httpCheckFrequency", "imageMaximumGCAge", "imageMinimumGCAge", "nodeStatusReportFrequency",
			"nodeStatusUpdateFrequency", "runtimeRequestTimeout", "shutdownGracePeriod", "shutdownGracePeriodCriticalPods",
			"streamingConnectionIdleTimeout", "syncFrequency", "volumeStatsAggPeriod",
		},
	} {
		for _, key := range keys {
			shapes[key] = *s
		}
	}
	return shapes
}

func authenticationShape() shape {
	return objectOf(map[string]shape{
		"anonymous": objectOf(map[string]shape{"enabled": kind(shapeBool)}),
		"webhook":   objectOf(map[string]shape{"enabled": kind(shapeBool), "cacheTTL": kind(shapeDuration)}),
		"x509":      objectOf(map[string]shape{"clientCAFile": kind(shapeString)}),
	})
}

func authorizationShape() shape {
	return objectOf(map[string]shape{
		"mode":    kind(shapeString),
		"webhook": objectOf(map[string]shape{"cacheAuthorizedTTL": kind(shapeDuration), "cacheUnauthorizedTTL": kind(shapeDuration)}),
	})
}

// loggingShape returns the shape of the block "logging". The flush frequency is a duration or a number of nanoseconds. A buffer size is a
// quantity, which may be written as a number.
func loggingShape() shape {
	output := map[string]shape{"splitStream": kind(shapeBool), "infoBufferSize": kind(shapeAny)}
	return objectOf(map[string]shape{
		"format":         kind(shapeString),
		"flushFrequency": kind(shapeAny),
		"verbosity":      kind(shapeInteger),
		"vmodule":        listOf(objectOf(map[string]shape{"filePattern": kind(shapeString), "verbosity": kind(shapeInteger)})),
		"options":        objectOf(map[string]shape{"text": objectOf(output), "json": objectOf(output)}),
	})
}

// validateShape reports unknown keys at any depth and values of the wrong type. It reports all errors, in the order of keys.
func validateShape(raw RawJSON, want shape, path *field.Path) field.ErrorList {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return field.ErrorList{field.Invalid(path, string(raw), "is not JSON: "+err.Error())}
	}
	return want.check(value, path)
}

func (s shape) check(value any, path *field.Path) field.ErrorList {
	// For the kubelet, null means that the key is missing.
	if value == nil || s.kind == shapeAny {
		return nil
	}
	wrong := field.ErrorList{field.Invalid(path, jsonText(value), "must be "+s.kind)}
	switch v := value.(type) {
	case bool:
		if s.kind == shapeBool {
			return nil
		}
	case json.Number:
		_, err := v.Int64()
		if s.kind == shapeNumber || s.kind == shapeInteger && err == nil {
			return nil
		}
	case string:
		if s.kind == shapeString {
			return nil
		}
		if _, err := time.ParseDuration(v); s.kind == shapeDuration && err == nil {
			return nil
		}
	case []any:
		if s.kind != shapeList {
			return wrong
		}
		var errs field.ErrorList
		for i, entry := range v {
			errs = append(errs, s.of.check(entry, path.Index(i))...)
		}
		return errs
	case map[string]any:
		return s.checkKeys(v, path, wrong)
	}
	return wrong
}

func (s shape) checkKeys(object map[string]any, path *field.Path, wrong field.ErrorList) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch s.kind {
		case shapeMap:
			errs = append(errs, s.of.check(object[key], path.Key(key))...)
		case shapeObject:
			inner, known := s.fields[key]
			if !known {
				errs = append(errs, unknownKubeletKey(path.Child(key), key))
				continue
			}
			errs = append(errs, inner.check(object[key], path.Child(key))...)
		default:
			return wrong
		}
	}
	if s.kind != shapeMap && s.kind != shapeObject {
		return wrong
	}
	return errs
}

func unknownKubeletKey(path *field.Path, key string) *field.Error {
	return field.Invalid(path, key, "is no key of the kubelet's configuration (kubelet.config.k8s.io/v1beta1): check the spelling")
}

// jsonText returns a decoded value as JSON.
func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
