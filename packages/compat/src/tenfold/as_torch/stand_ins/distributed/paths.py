"""PyTorch's modules below `torch.distributed`, each with the names that programs import from it."""

from __future__ import annotations

_PLACEMENTS = "DTensor Partial Placement Replicate Shard"
_FSDP = (
    "BackwardPrefetch CPUOffload CPUOffloadPolicy FSDPModule FullOptimStateDictConfig FullStateDictConfig "
    "FullyShardedDataParallel LocalOptimStateDictConfig LocalStateDictConfig MixedPrecision MixedPrecisionPolicy "
    "OffloadPolicy OptimStateDictConfig OptimStateKeyType ShardedOptimStateDictConfig ShardedStateDictConfig "
    "ShardingStrategy StateDictConfig StateDictSettings StateDictType UnshardHandle fully_shard "
    "register_fsdp_forward_method"
)
PATHS = {
    "tensor": f"{_PLACEMENTS} distribute_module distribute_tensor empty full init_device_mesh ones rand randn zeros",
    "tensor.placement_types": f"{_PLACEMENTS} _StridedShard",
    "tensor.parallel": "ColwiseParallel ParallelStyle PrepareModuleInput PrepareModuleOutput RowwiseParallel SequenceParallel "
    "loss_parallel parallelize_module",
    "tensor.experimental": "context_parallel implicit_replication local_map register_sharding",
    "tensor.experimental._attention": "set_rotate_method",
    "tensor._utils": "compute_local_shape_and_global_offset",
    "_tensor": f"{_PLACEMENTS} DeviceMesh distribute_module distribute_tensor",
    "_tensor.placement_types": _PLACEMENTS,
    "_tensor.experimental": "implicit_replication",
    "fsdp": _FSDP,
    "fsdp.api": _FSDP,
    "fsdp._common_utils": "TrainingState _FSDPState",
    "fsdp.fully_sharded_data_parallel": _FSDP,
    "fsdp.wrap": "CustomPolicy ModuleWrapPolicy _Policy _recursive_wrap always_wrap_policy enable_wrap lambda_auto_wrap_policy "
    "size_based_auto_wrap_policy transformer_auto_wrap_policy wrap",
    "fsdp.sharded_grad_scaler": "ShardedGradScaler",
    "_composable.fsdp": "CPUOffloadPolicy FSDPModule MixedPrecisionPolicy OffloadPolicy UnshardHandle fully_shard",
    "checkpoint": "DefaultLoadPlanner DefaultSavePlanner FileSystemReader FileSystemWriter LoadPlanner SavePlanner StorageReader "
    "StorageWriter async_save load load_state_dict save save_state_dict",
    "checkpoint.default_planner": "DefaultLoadPlanner DefaultSavePlanner _EmptyStateDictLoadPlanner",
    "checkpoint.format_utils": "_EmptyStateDictLoadPlanner dcp_to_torch_save torch_save_to_dcp",
    "checkpoint.filesystem": "FileSystemReader FileSystemWriter",
    "checkpoint.metadata": "Metadata",
    "checkpoint.optimizer": "load_sharded_optimizer_state_dict",
    "checkpoint.state_dict_loader": "_load_state_dict load",
    "checkpoint.state_dict_saver": "async_save save",
    "checkpoint.stateful": "Stateful",
    "checkpoint._consolidate_hf_safetensors": "consolidate_safetensors_files consolidate_safetensors_files_on_every_rank",
    "checkpoint._fsspec_filesystem": "FsspecReader FsspecWriter",
    "checkpoint.hf_storage": "HuggingFaceStorageReader HuggingFaceStorageWriter",
    "checkpoint.planner": "LoadPlan LoadPlanner SavePlan SavePlanner",
    "checkpoint.storage": "StorageReader StorageWriter",
    "_composable_state": "_State _get_module_state",
    "algorithms": "Join JoinHook Joinable",
    "algorithms.join": "Join JoinConfig JoinHook Joinable",
    "algorithms._checkpoint.checkpoint_wrapper": "CheckpointImpl CheckpointWrapper apply_activation_checkpointing "
    "checkpoint_wrapper offload_wrapper",
    "algorithms.ddp_comm_hooks": "DDPCommHookType register_ddp_comm_hook",
    "algorithms.ddp_comm_hooks.default_hooks": "allreduce_hook bf16_compress_hook bf16_compress_wrapper fp16_compress_hook "
    "fp16_compress_wrapper",
    "algorithms.ddp_comm_hooks.powerSGD_hook": "PowerSGDState batched_powerSGD_hook powerSGD_hook",
    "algorithms.ddp_comm_hooks.post_localSGD_hook": "PostLocalSGDState post_localSGD_hook",
    "algorithms.model_averaging.averagers": "ModelAverager PeriodicModelAverager",
    "optim": "DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer",
    "pipelining": "PipelineStage Schedule1F1B ScheduleGPipe SplitPoint pipe_split pipeline",
    "launcher.api": "LaunchConfig elastic_launch launch_agent",
    "elastic.multiprocessing": "DefaultLogsSpecs Std start_processes",
    "elastic.multiprocessing.errors": "ChildFailedError ErrorHandler record",
    "elastic.utils.distributed": "get_free_port get_socket_with_port",
    "elastic.metrics": "prof put_metric",
    "rpc": "RRef WorkerInfo init_rpc remote rpc_async rpc_sync shutdown",
    "autograd": "backward context get_gradients",
    "run": "get_args_parser main run",
    "launch": "launch main",
    "utils": "_sync_module_states _verify_param_shape_across_processes",
    "nn": "all_gather all_reduce all_to_all broadcast gather reduce reduce_scatter scatter",
    "nn.functional": "all_gather all_reduce all_to_all broadcast gather reduce reduce_scatter scatter",
    "_functional_collectives": "all_gather_tensor all_reduce all_to_all_single reduce_scatter_tensor wait_tensor",
    "_shard": "load_with_process_group",
    "_shard.api": "load_with_process_group",
    "_shard.sharded_tensor": "Shard ShardedTensor",
    "_shard.sharded_tensor.api": "ShardedTensor",
}
