; Where there is no pool (systems other than Linux): one thread.

@pool_threads = global i64 1

define void @run(ptr %function, ptr %context, i64 %count, i64 %grain) nounwind {
  call void %function(ptr %context, i64 0, i64 %count)
  ret void
}
