; Threads that share the range of a loop. The caller cuts it into chunks and takes part; it never waits for a worker that has
; not begun. Everybody starts in a part of their own and then helps with the others'. Workers pause for a moment after each
; job and then sleep in the kernel (futex). The names of the system's calls in capitals are replaced for the processor.

@pool_threads = global i64 1          ; how many may take part, the caller included
@pool_state = global i32 0, align 64  ; bit 30: a job is open; below: workers in it
@pool_job = global i32 0, align 64    ; counts the jobs; workers sleep on it
@pool_asleep = global i32 0, align 64
@pool_lock = global i32 0, align 64   ; held by the thread whose job it is
@pool_taken = global [256 x i8] zeroinitializer, align 64  ; of each chunk whether somebody has it
@pool_cpus = global [1024 x i64] zeroinitializer           ; which worker is which thread of the system
@pool_mask = global [128 x i8] zeroinitializer, align 64   ; the processors that this process may use
@pool_masked = global i32 -1                               ; the one that sleeping workers are kept away from
@job_function = internal global ptr null, align 64
@job_context = internal global ptr null
@job_count = internal global i64 0
@job_chunk = internal global i64 0
@job_chunks = internal global i64 0
@job_threads = internal global i64 0

declare i64 @syscall(i64, ...)
PAUSE_DECLARATION

define internal void @help(i64 %me) nounwind {
entry:
  %function = load ptr, ptr @job_function
  %context = load ptr, ptr @job_context
  %count = load i64, ptr @job_count
  %chunk = load i64, ptr @job_chunk
  %chunks = load i64, ptr @job_chunks
  %threads = load i64, ptr @job_threads
  %part = mul i64 %me, %chunks
  %start = udiv i64 %part, %threads
  br label %look
look:
  %j = phi i64 [0, %entry], [%jnext, %next]
  %end = icmp eq i64 %j, %chunks
  br i1 %end, label %done, label %try
try:
  %shifted = add i64 %start, %j
  %k = urem i64 %shifted, %chunks
  %place = getelementptr i8, ptr @pool_taken, i64 %k
  %seen = load atomic i8, ptr %place monotonic, align 1
  %free = icmp eq i8 %seen, 0
  br i1 %free, label %claim, label %next
claim:
  %was = atomicrmw xchg ptr %place, i8 1 acq_rel
  %mine = icmp eq i8 %was, 0
  br i1 %mine, label %work, label %next
work:
  %from = mul i64 %k, %chunk
  %beyond = add i64 %from, %chunk
  %less = icmp slt i64 %beyond, %count
  %to = select i1 %less, i64 %beyond, i64 %count
  call void %function(ptr %context, i64 %from, i64 %to)
  br label %next
next:
  %jnext = add i64 %j, 1
  br label %look
done:
  ret void
}

define void @pool_worker(i64 %me) nounwind {
entry:
  %thread = call i64 (i64, ...) @syscall(i64 SYSCALL_GETTID)
  %slot = getelementptr i64, ptr @pool_cpus, i64 %me
  store i64 %thread, ptr %slot
  %begin = load atomic i32, ptr @pool_job acquire, align 4
  br label %outer
outer:
  %last = phi i32 [%begin, %entry], [%job, %ask], [%job, %join], [%job, %work]
  br label %spin
spin:
  %k = phi i64 [0, %outer], [%knext, %pause], [0, %sleep]
  %job = load atomic i32, ptr @pool_job acquire, align 4
  %new = icmp ne i32 %job, %last
  br i1 %new, label %ask, label %pause
pause:
  call void @PAUSE
  %knext = add i64 %k, 1
  %soon = icmp slt i64 %knext, 2000
  br i1 %soon, label %spin, label %sleep
sleep:
  %in = atomicrmw add ptr @pool_asleep, i32 1 seq_cst
  %ignored = call i64 (i64, ...) @syscall(i64 SYSCALL_FUTEX, ptr @pool_job, i32 128, i32 %last, ptr null, ptr null, i32 0)
  %out = atomicrmw sub ptr @pool_asleep, i32 1 seq_cst
  br label %spin
ask:
  %allowed = load atomic i64, ptr @pool_threads monotonic, align 8
  %wanted = icmp slt i64 %me, %allowed
  br i1 %wanted, label %look, label %outer
look:
  %first = load atomic i32, ptr @pool_state acquire, align 4
  br label %join
join:
  %state = phi i32 [%first, %look], [%found, %enter]
  %open = icmp uge i32 %state, 1073741824
  br i1 %open, label %enter, label %outer
enter:
  %more = add i32 %state, 1
  %swap = cmpxchg ptr @pool_state, i32 %state, i32 %more acq_rel acquire
  %found = extractvalue {i32, i1} %swap, 0
  %entered = extractvalue {i32, i1} %swap, 1
  br i1 %entered, label %work, label %join
work:
  call void @help(i64 %me)
  %left = atomicrmw sub ptr @pool_state, i32 1 release
  br label %outer
}

; The system likes to wake a thread on the processor of the one who wakes it, where it would wait for its turn: sleeping
; workers are kept away from that processor.
define internal void @keep_away(i64 %threads) nounwind {
entry:
  %cpu = alloca i32
  store i32 0, ptr %cpu
  %ignored = call i64 (i64, ...) @syscall(i64 SYSCALL_GETCPU, ptr %cpu, ptr null, ptr null)
  %here = load i32, ptr %cpu
  %before = load i32, ptr @pool_masked
  %same = icmp eq i32 %here, %before
  %beyond = icmp ugt i32 %here, 1023
  %nothing = or i1 %same, %beyond
  br i1 %nothing, label %done, label %change
change:
  store i32 %here, ptr @pool_masked
  %mask = alloca [128 x i8], align 8
  call void @llvm.memcpy.p0.p0.i64(ptr %mask, ptr @pool_mask, i64 128, i1 false)
  %byte = lshr i32 %here, 3
  %bit = and i32 %here, 7
  %one = shl i32 1, %bit
  %inverse = xor i32 %one, 255
  %kept = trunc i32 %inverse to i8
  %place = getelementptr i8, ptr %mask, i32 %byte
  %old = load i8, ptr %place
  %less = and i8 %old, %kept
  store i8 %less, ptr %place
  br label %each
each:
  %k = phi i64 [1, %change], [%knext, %one_more]
  %end = icmp sge i64 %k, %threads
  br i1 %end, label %done, label %one_more
one_more:
  %slot = getelementptr i64, ptr @pool_cpus, i64 %k
  %thread = load i64, ptr %slot
  %known = icmp ne i64 %thread, 0
  %target = select i1 %known, i64 %thread, i64 -1
  %z = call i64 (i64, ...) @syscall(i64 SYSCALL_SETAFFINITY, i64 %target, i64 128, ptr %mask)
  %knext = add i64 %k, 1
  br label %each
done:
  ret void
}

; Run function(context, from, to) over 0 … count, in chunks of at least `grain`.
define void @run(ptr %function, ptr %context, i64 %count, i64 %grain) nounwind {
entry:
  %threads = load atomic i64, ptr @pool_threads monotonic, align 8
  %single = icmp slt i64 %threads, 2
  %twice = shl i64 %grain, 1
  %small = icmp slt i64 %count, %twice
  %alone = or i1 %single, %small
  br i1 %alone, label %serial, label %lock
lock:
  %got = cmpxchg ptr @pool_lock, i32 0, i32 1 acq_rel acquire
  %mine = extractvalue {i32, i1} %got, 1
  br i1 %mine, label %cut, label %serial
serial:
  call void %function(ptr %context, i64 0, i64 %count)
  ret void
cut:
  ; at most eight chunks a thread and 256 in all, each a multiple of 64 elements if it is long
  %eight = shl i64 %threads, 3
  %fewer = icmp slt i64 %eight, 256
  %most = select i1 %fewer, i64 %eight, i64 256
  %c0 = add i64 %count, %most
  %c1 = sub i64 %c0, 1
  %even = udiv i64 %c1, %most
  %tiny = icmp slt i64 %even, %grain
  %chunk0 = select i1 %tiny, i64 %grain, i64 %even
  %long = icmp sgt i64 %chunk0, 1023
  %r0 = add i64 %chunk0, 63
  %r1 = and i64 %r0, -64
  %chunk = select i1 %long, i64 %r1, i64 %chunk0
  %n0 = add i64 %count, %chunk
  %n1 = sub i64 %n0, 1
  %chunks = udiv i64 %n1, %chunk
  store ptr %function, ptr @job_function
  store ptr %context, ptr @job_context
  store i64 %count, ptr @job_count
  store i64 %chunk, ptr @job_chunk
  store i64 %chunks, ptr @job_chunks
  store i64 %threads, ptr @job_threads
  store [256 x i8] zeroinitializer, ptr @pool_taken
  store atomic i32 1073741824, ptr @pool_state release, align 4
  %old = atomicrmw add ptr @pool_job, i32 1 seq_cst
  %asleep = load atomic i32, ptr @pool_asleep seq_cst, align 4
  %wake = icmp sgt i32 %asleep, 0
  br i1 %wake, label %call, label %join
call:
  call void @keep_away(i64 %threads)
  %ignored = call i64 (i64, ...) @syscall(i64 SYSCALL_FUTEX, ptr @pool_job, i32 129, i32 1024, ptr null, ptr null, i32 0)
  br label %join
join:
  call void @help(i64 0)
  %closed = atomicrmw sub ptr @pool_state, i32 1073741824 acq_rel
  br label %wait
wait:
  %state = load atomic i32, ptr @pool_state acquire, align 4
  %done = icmp eq i32 %state, 0
  br i1 %done, label %leave, label %pause
pause:
  call void @PAUSE
  br label %wait
leave:
  store atomic i32 0, ptr @pool_lock release, align 4
  ret void
}

; In a child process there are no workers, and a job under way is the parent's.
define void @pool_forget() nounwind {
  store atomic i32 0, ptr @pool_state release, align 4
  store atomic i32 0, ptr @pool_asleep release, align 4
  store atomic i32 0, ptr @pool_lock release, align 4
  store i32 -1, ptr @pool_masked
  ret void
}
