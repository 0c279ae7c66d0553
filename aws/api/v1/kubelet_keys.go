package v1

// otherKubeletKeys returns the top-level keys of the kubelet's configuration, kubelet.config.k8s.io/v1beta1 of
// Kubernetes 1.35, that KubeletConfiguration has no field for.
func otherKubeletKeys() []string {
	return []string{
		"address", "allowedUnsafeSysctls", "apiVersion", "authentication", "authorization", "cgroupDriver",
		"cgroupRoot", "cgroupsPerQOS", "clusterDomain", "configMapAndSecretChangeDetectionStrategy",
		"containerLogMaxFiles", "containerLogMaxSize", "containerLogMaxWorkers", "containerLogMonitorInterval",
		"containerRuntimeEndpoint", "contentType", "cpuCFSQuotaPeriod", "cpuManagerPolicy",
		"cpuManagerPolicyOptions", "cpuManagerReconcilePeriod", "crashLoopBackOff", "enableContentionProfiling",
		"enableControllerAttachDetach", "enableDebugFlagsHandler", "enableDebuggingHandlers",
		"enableProfilingHandler", "enableServer", "enableSystemLogHandler", "enableSystemLogQuery",
		"enforceNodeAllocatable", "eventBurst", "eventRecordQPS", "evictionMinimumReclaim",
		"evictionPressureTransitionPeriod", "failCgroupV1", "failSwapOn", "featureGates", "fileCheckFrequency",
		"hairpinMode", "healthzBindAddress", "healthzPort", "httpCheckFrequency", "imageMaximumGCAge",
		"imageMinimumGCAge", "imagePullCredentialsVerificationPolicy", "imageServiceEndpoint", "iptablesDropBit",
		"iptablesMasqueradeBit", "kernelMemcgNotification", "kind", "kubeAPIBurst", "kubeAPIQPS", "kubeletCgroups",
		"kubeReservedCgroup", "localStorageCapacityIsolation", "logging", "makeIPTablesUtilChains", "maxOpenFiles",
		"maxParallelImagePulls", "memoryManagerPolicy", "memorySwap", "memoryThrottlingFactor",
		"mergeDefaultEvictionSettings", "nodeLeaseDurationSeconds", "nodeStatusMaxImages",
		"nodeStatusReportFrequency", "nodeStatusUpdateFrequency", "oomScoreAdj", "podCIDR", "podLogsDir",
		"podPidsLimit", "port", "preloadedImagesVerificationAllowlist", "protectKernelDefaults", "providerID",
		"qosReserved", "readOnlyPort", "registerNode", "registerWithTaints", "registryBurst", "registryPullQPS",
		"reservedMemory", "reservedSystemCPUs", "resolvConf", "rotateCertificates", "runOnce",
		"runtimeRequestTimeout", "seccompDefault", "serializeImagePulls", "serverTLSBootstrap",
		"showHiddenMetricsForVersion", "shutdownGracePeriod", "shutdownGracePeriodByPodPriority",
		"shutdownGracePeriodCriticalPods", "singleProcessOOMKill", "staticPodPath", "staticPodURL",
		"staticPodURLHeader", "streamingConnectionIdleTimeout", "syncFrequency", "systemCgroups",
		"systemReservedCgroup", "tlsCertFile", "tlsCipherSuites", "tlsMinVersion", "tlsPrivateKeyFile",
		"topologyManagerPolicy", "topologyManagerPolicyOptions", "topologyManagerScope", "tracing",
		"userNamespaces", "volumePluginDir", "volumeStatsAggPeriod",
	}
}
