; update(address32, address64, rows, numbers): run a fused step (kernels/optim.py) on each row, a list of plain tensors, of which
; all but the last are written: how many rows from the first on were served, before one which Python looks at. Served here: tensors
; of the CPU of one dtype and shape, none in another's memory, whose storages are there and unguarded.

@u_guarded_at = global i64 0   ; where a storage's field lies
@u_piece = global i64 0        ; elements that one call of the loop updates

define ptr @update(ptr %self, ptr %args, i64 %n) {
entry:
  %o0 = call ptr @pointer(ptr %args, i64 0)
  %o1 = call ptr @pointer(ptr %args, i64 1)
  %rows = call ptr @pointer(ptr %args, i64 2)
  %numbers = call ptr @pointer(ptr %args, i64 3)
  %address32 = call i64 @PyLong_AsSsize_t(ptr %o0)
  %address64 = call i64 @PyLong_AsSsize_t(ptr %o1)
  br label %each
each:
  %i = phi i64 [0, %entry], [%inext, %took]
  %count = call i64 @word(ptr %rows, i64 2)
  %end = icmp eq i64 %i, %count
  br i1 %end, label %done, label %one
one:
  %items = call ptr @at(ptr %rows, i64 24)
  %tensors = call ptr @pointer(ptr %items, i64 %i)
  %found = call i64 @updated(ptr %tensors, ptr %numbers, i64 %address32, i64 %address64)
  switch i64 %found, label %fail [
    i64 0, label %done
    i64 1, label %took
  ]
took:
  %inext = add i64 %i, 1
  br label %each
done:
  %answer = call ptr @PyLong_FromSsize_t(i64 %i)
  ret ptr %answer
fail:
  ret ptr null
}

; The same for one row: 1 if it was served, 0 if not, -1 for an error.
define internal i64 @updated(ptr %tensors, ptr %numbers, i64 %address32, i64 %address64) {
entry:
  %context = alloca [32 x i64], align 64
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
  %some = icmp sgt i64 %size, 0
  %c0 = and i1 %known, %there
  %c = and i1 %c0, %some
  br i1 %c, label %values, label %no
values:
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
run:  ; the pieces that are whole, then the rest
  %function = inttoptr i64 %address to ptr
  %piece = load i64, ptr @u_piece
  %whole = udiv i64 %size, %piece
  %taken = mul i64 %whole, %piece
  %rest = sub i64 %size, %taken
  %has_whole = icmp ne i64 %whole, 0
  br i1 %has_whole, label %pieces, label %tail
pieces:
  store i64 %piece, ptr %context
  call void @run(ptr %function, ptr %context, i64 %whole, i64 4)  ; in one go: nobody may change a tensor meanwhile
  %has_rest = icmp ne i64 %rest, 0
  br i1 %has_rest, label %advance, label %note
advance:
  %item_shift = select i1 %single, i64 2, i64 3
  %bytes = shl i64 %taken, %item_shift
  br label %advance_one
advance_one:
  %v = phi i64 [1, %advance], [%vnext, %advance_one]
  %v_slot = getelementptr ptr, ptr %context, i64 %v
  %v_begin = load ptr, ptr %v_slot
  %v_there = getelementptr i8, ptr %v_begin, i64 %bytes
  store ptr %v_there, ptr %v_slot
  %vnext = add i64 %v, 1
  %v_more = icmp slt i64 %vnext, %head
  br i1 %v_more, label %advance_one, label %tail
tail:
  store i64 %rest, ptr %context
  call void %function(ptr %context, i64 0, i64 1)
  br label %note
note:  ; each write counts
  %w = phi i64 [0, %pieces], [0, %tail], [%wnext, %noted]
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
  ret i64 1
no:
  ret i64 0
fail:
  ret i64 -1
}
