; update(address32, address64, tensors, numbers): run a fused step (kernels/optim.py) on a list of plain tensors, of which all but
; the last are written: True, or NotImplemented for what Python looks at. Served here: tensors of the CPU of one dtype and shape,
; few elements, none in another's memory, whose storages are there and unguarded.

@u_guarded_at = global i64 0   ; where a storage's field lies
@u_most = global i64 0         ; elements
declare i64 @llvm.abs.i64(i64, i1)

define ptr @update(ptr %self, ptr %args, i64 %n) {
entry:
  %context = alloca [32 x i64], align 64
  %o0 = call ptr @pointer(ptr %args, i64 0)
  %o1 = call ptr @pointer(ptr %args, i64 1)
  %tensors = call ptr @pointer(ptr %args, i64 2)
  %numbers = call ptr @pointer(ptr %args, i64 3)
  %address32 = call i64 @PyLong_AsSsize_t(ptr %o0)
  %address64 = call i64 @PyLong_AsSsize_t(ptr %o1)
  %items = call ptr @at(ptr %tensors, i64 24)
  %count = call i64 @word(ptr %tensors, i64 2)
  %Float = load ptr, ptr @g_float
  %F32 = load ptr, ptr @p_float32
  %F64 = load ptr, ptr @p_float64
  %Storage = load ptr, ptr @p_Storage
  %False = load ptr, ptr @g_False
  %Int = load ptr, ptr @g_int
  %first = load ptr, ptr %items
  %last = sub i64 %count, 1
  br label %each
each:
  %i = phi i64 [0, %entry], [%inext, %fine]
  %ref = phi ptr [null, %entry], [%ref1, %fine]
  %end = icmp eq i64 %i, %count
  br i1 %end, label %which, label %one
one:
  %t = call ptr @pointer(ptr %items, i64 %i)
  %type = call ptr @at(ptr %t, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %array, label %no
array:  ; in one piece, aligned, writeable
  %a = call ptr @plain_array(ptr %t, i32 1281)
  %none = icmp eq ptr %a, null
  br i1 %none, label %no, label %compare
compare:
  %is_first = icmp eq ptr %ref, null
  br i1 %is_first, label %storage, label %alike
alike:
  %d0 = call ptr @at(ptr %ref, i64 56)
  %d1 = call ptr @at(ptr %a, i64 56)
  %same_dtype = icmp eq ptr %d0, %d1
  %same_shape = call i1 @same_shape(ptr %ref, ptr %a)
  %same = and i1 %same_dtype, %same_shape
  %length = call i64 @elements(ptr %ref)
  %is_single = icmp eq ptr %d0, %F32
  %shift = select i1 %is_single, i64 2, i64 3
  %apart = shl i64 %length, %shift
  %begin = call i64 @word(ptr %a, i64 2)
  br i1 %same, label %distinct, label %no
distinct:
  %k = phi i64 [0, %alike], [%knext, %other]
  %k_end = icmp eq i64 %k, %i
  br i1 %k_end, label %storage, label %look
look:
  %earlier = call ptr @pointer(ptr %items, i64 %k)
  %earlier_array = call ptr @field(ptr %earlier, ptr @p_array)
  %earlier_begin = call i64 @word(ptr %earlier_array, i64 2)
  %gap = sub i64 %begin, %earlier_begin
  %distance = call i64 @llvm.abs.i64(i64 %gap, i1 false)
  %twice = icmp slt i64 %distance, %apart
  br i1 %twice, label %no, label %other
other:
  %knext = add i64 %k, 1
  br label %distinct
storage:
  %ref1 = phi ptr [%a, %compare], [%ref, %distinct]
  %data = call ptr @at(ptr %a, i64 16)
  %in_place = add i64 %i, %count
  %in_slot = getelementptr ptr, ptr %context, i64 %in_place
  store ptr %data, ptr %in_slot
  %read_only = icmp eq i64 %i, %last
  br i1 %read_only, label %fine, label %written
written:
  %out_place = add i64 %i, 1
  %out_slot = getelementptr ptr, ptr %context, i64 %out_place
  store ptr %data, ptr %out_slot
  %s = call ptr @field(ptr %t, ptr @p_storage)
  %s_null = icmp eq ptr %s, null
  br i1 %s_null, label %no, label %s_type
s_type:
  %s_of = call ptr @at(ptr %s, i64 8)
  %s_is = icmp eq ptr %s_of, %Storage
  br i1 %s_is, label %s_fields, label %no
s_fields:
  %guarded = call ptr @field(ptr %s, ptr @u_guarded_at)
  %version = call ptr @field(ptr %s, ptr @p_version)
  %unguarded = icmp eq ptr %guarded, %False
  %v_known = icmp ne ptr %version, null
  %both = and i1 %unguarded, %v_known
  br i1 %both, label %fine, label %no
fine:
  %inext = add i64 %i, 1
  br label %each

which:
  %dtype = call ptr @at(ptr %ref, i64 56)
  %single = icmp eq ptr %dtype, %F32
  %double = icmp eq ptr %dtype, %F64
  %address = select i1 %single, i64 %address32, i64 %address64
  %known = or i1 %single, %double
  %there = icmp ne i64 %address, 0
  %size = call i64 @elements(ptr %ref)
  %most = load i64, ptr @u_most
  %some = icmp sgt i64 %size, 0
  %few = icmp sle i64 %size, %most
  %c0 = and i1 %known, %there
  %c1 = and i1 %some, %few
  %c = and i1 %c0, %c1
  br i1 %c, label %values, label %no
values:
  store i64 %size, ptr %context
  %numbers_n = call i64 @word(ptr %numbers, i64 2)
  %head = shl i64 %count, 1
  br label %value
value:
  %j = phi i64 [0, %values], [%jnext, %value_take]
  %j_end = icmp eq i64 %j, %numbers_n
  br i1 %j_end, label %run, label %value_one
value_one:
  %j_at = add i64 %j, 3
  %x = call ptr @pointer(ptr %numbers, i64 %j_at)
  %x_type = call ptr @at(ptr %x, i64 8)
  %x_is = icmp eq ptr %x_type, %Float
  br i1 %x_is, label %value_take, label %no
value_take:
  %x_value = call i64 @word(ptr %x, i64 2)
  %j_place = add i64 %head, %j
  %j_slot = getelementptr i64, ptr %context, i64 %j_place
  store i64 %x_value, ptr %j_slot
  %jnext = add i64 %j, 1
  br label %value
run:
  %function = inttoptr i64 %address to ptr
  call void %function(ptr %context, i64 0, i64 1)
  br label %note
note:  ; each write counts
  %w = phi i64 [0, %run], [%wnext, %noted]
  %w_end = icmp eq i64 %w, %last
  br i1 %w_end, label %yes, label %note_one
note_one:
  %w_t = call ptr @pointer(ptr %items, i64 %w)
  %w_s = call ptr @field(ptr %w_t, ptr @p_storage)
  %w_version = call ptr @field(ptr %w_s, ptr @p_version)
  %w_n = call i64 @PyLong_AsSsize_t(ptr %w_version)
  %w_more = add i64 %w_n, 1
  %w_new = call ptr @PyLong_FromSsize_t(i64 %w_more)
  %w_lost = icmp eq ptr %w_new, null
  br i1 %w_lost, label %fail, label %noted
noted:
  call void @replace(ptr %w_s, ptr @p_version, ptr %w_new)
  %wnext = add i64 %w, 1
  br label %note
yes:
  %True = load ptr, ptr @g_True
  call void @Py_IncRef(ptr %True)
  ret ptr %True
no:
  %NotImplemented = load ptr, ptr @g_NotImplemented
  call void @Py_IncRef(ptr %NotImplemented)
  ret ptr %NotImplemented
fail:
  ret ptr null
}
