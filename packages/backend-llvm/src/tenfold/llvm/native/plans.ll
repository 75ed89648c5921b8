; large_gate(a, b[, bias]): large products whose sizes and layouts were planned before, around the kernel that plans them. `self` is
; an array of words: 0 that kernel, 1 the number of arguments, 2 whether b comes transposed, 3 the table of plans. Its 512 entries
; have 64 words each (large_calls.py writes them): 0 the dtype, 1 a's dimensions, 2 their sizes, 6 their steps, 10 the rows and
; columns of b and their steps, 14 whether there is a bias; then 15 the code, 16 how many items, 17 whether the result's memory is
; cached, 18 how many numbers follow the arrays, and from 19 on these. A plan's place is that which
; its first 15 words say, or the one beside it.

define ptr @large_gate(ptr %self, ptr %args, i64 %n, ptr %names) {
entry:
  %context = alloca [64 x i64], align 64
  %key = alloca [16 x i64], align 64
  %shape = alloca [4 x i64]
  %g = call ptr @at(ptr %self, i64 16)
  %expected = call i64 @word(ptr %g, i64 1)
  %complete = icmp eq i64 %n, %expected
  %unnamed = icmp eq ptr %names, null
  %simple = and i1 %complete, %unnamed
  br i1 %simple, label %types, label %under
types:
  %Array = load ptr, ptr @g_ndarray
  %a = call ptr @pointer(ptr %args, i64 0)
  %b = call ptr @pointer(ptr %args, i64 1)
  %a_type = call ptr @at(ptr %a, i64 8)
  %b_type = call ptr @at(ptr %b, i64 8)
  %a_is = icmp eq ptr %a_type, %Array
  %b_is = icmp eq ptr %b_type, %Array
  %arrays = and i1 %a_is, %b_is
  br i1 %arrays, label %layouts, label %under
layouts:
  %dtype = call ptr @at(ptr %a, i64 56)
  %b_dtype = call ptr @at(ptr %b, i64 56)
  %agree = icmp eq ptr %dtype, %b_dtype
  %a_aligned = call i1 @has_flags(ptr %a, i32 256)
  %b_aligned = call i1 @has_flags(ptr %b, i32 256)
  %nd = call i64 @dimensions(ptr %a)
  %b_nd = call i64 @dimensions(ptr %b)
  %b_two = icmp eq i64 %b_nd, 2
  %enough = icmp sge i64 %nd, 2
  %not_many = icmp sle i64 %nd, 4
  %l0 = and i1 %agree, %a_aligned
  %l1 = and i1 %b_aligned, %b_two
  %l2 = and i1 %enough, %not_many
  %l3 = and i1 %l0, %l1
  %l4 = and i1 %l2, %l3
  br i1 %l4, label %matrix, label %under
matrix:
  %b_dims = call ptr @at(ptr %b, i64 32)
  %b_steps = call ptr @at(ptr %b, i64 40)
  %turned_word = call i64 @word(ptr %g, i64 2)
  %turned = icmp ne i64 %turned_word, 0
  %b0 = call i64 @word(ptr %b_dims, i64 0)
  %b1 = call i64 @word(ptr %b_dims, i64 1)
  %s0 = call i64 @word(ptr %b_steps, i64 0)
  %s1 = call i64 @word(ptr %b_steps, i64 1)
  %rows = select i1 %turned, i64 %b1, i64 %b0
  %columns = select i1 %turned, i64 %b0, i64 %b1
  %row_step = select i1 %turned, i64 %s1, i64 %s0
  %column_step = select i1 %turned, i64 %s0, i64 %s1
  %three = icmp eq i64 %n, 3
  br i1 %three, label %third, label %name
third:
  %c = call ptr @pointer(ptr %args, i64 2)
  %None = load ptr, ptr @g_None
  %absent = icmp eq ptr %c, %None
  br i1 %absent, label %name, label %bias
bias:
  %c_type = call ptr @at(ptr %c, i64 8)
  %c_is = icmp eq ptr %c_type, %Array
  br i1 %c_is, label %bias_look, label %under
bias_look:
  %c_dtype = call ptr @at(ptr %c, i64 56)
  %c_agrees = icmp eq ptr %c_dtype, %dtype
  %c_solid = call i1 @has_flags(ptr %c, i32 1281)
  %c_nd = call i64 @dimensions(ptr %c)
  %c_line = icmp eq i64 %c_nd, 1
  %c_long = call i64 @elements(ptr %c)
  %c_fits = icmp eq i64 %c_long, %columns
  %c0 = and i1 %c_agrees, %c_solid
  %c1 = and i1 %c_line, %c_fits
  %c2 = and i1 %c0, %c1
  br i1 %c2, label %bias_take, label %under
bias_take:
  %c_data = call ptr @at(ptr %c, i64 16)
  br label %name
name:
  %start = phi ptr [null, %matrix], [null, %third], [%c_data, %bias_take]
  %biased = icmp ne ptr %start, null
  %biased_word = zext i1 %biased to i64
  %dtype_word = ptrtoint ptr %dtype to i64
  call void @llvm.memset.p0.i64(ptr %key, i8 0, i64 128, i1 false)
  call void @set_word(ptr %key, i64 0, i64 %dtype_word)
  call void @set_word(ptr %key, i64 1, i64 %nd)
  call void @set_word(ptr %key, i64 10, i64 %rows)
  call void @set_word(ptr %key, i64 11, i64 %columns)
  call void @set_word(ptr %key, i64 12, i64 %row_step)
  call void @set_word(ptr %key, i64 13, i64 %column_step)
  call void @set_word(ptr %key, i64 14, i64 %biased_word)
  %a_dims = call ptr @at(ptr %a, i64 32)
  %a_steps = call ptr @at(ptr %a, i64 40)
  br label %size
size:
  %d = phi i64 [0, %name], [%dnext, %size]
  %dim = call i64 @word(ptr %a_dims, i64 %d)
  %step = call i64 @word(ptr %a_steps, i64 %d)
  %dim_at = add i64 %d, 2
  %step_at = add i64 %d, 6
  call void @set_word(ptr %key, i64 %dim_at, i64 %dim)
  call void @set_word(ptr %key, i64 %step_at, i64 %step)
  %shape_slot = getelementptr i64, ptr %shape, i64 %d
  store i64 %dim, ptr %shape_slot
  %dnext = add i64 %d, 1
  %sized = icmp eq i64 %dnext, %nd
  br i1 %sized, label %mix, label %size
mix:
  %k = phi i64 [0, %size], [%knext, %mix]
  %h = phi i64 [0, %size], [%hnext, %mix]
  %w = call i64 @word(ptr %key, i64 %k)
  %x = xor i64 %h, %w
  %hnext = mul i64 %x, -7046029254386353131
  %knext = add i64 %k, 1
  %mixed = icmp eq i64 %knext, 15
  br i1 %mixed, label %find, label %mix
find:
  %high = lshr i64 %hnext, 55
  %table = call ptr @pointer(ptr %g, i64 3)
  br label %place
place:  ; a plan's own, or its neighbour
  %way = phi i64 [0, %find], [1, %other]
  %which = xor i64 %high, %way
  %at = shl i64 %which, 6
  %plan = getelementptr i64, ptr %table, i64 %at
  br label %same
same:
  %q = phi i64 [0, %place], [%qnext, %same_one]
  %known = icmp eq i64 %q, 15
  br i1 %known, label %make, label %same_one
same_one:
  %mine = call i64 @word(ptr %key, i64 %q)
  %its = call i64 @word(ptr %plan, i64 %q)
  %qnext = add i64 %q, 1
  %equal = icmp eq i64 %mine, %its
  br i1 %equal, label %same, label %other
other:
  %again = icmp eq i64 %way, 0
  br i1 %again, label %place, label %under
make:
  %last = sub i64 %nd, 1
  %last_slot = getelementptr i64, ptr %shape, i64 %last
  store i64 %columns, ptr %last_slot
  %rank = trunc i64 %nd to i32
  %cached_word = call i64 @word(ptr %plan, i64 17)
  %cached = icmp ne i64 %cached_word, 0
  call void @Py_IncRef(ptr %dtype)
  br i1 %cached, label %large, label %small
small:
  %fresh = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 %rank, ptr %shape, ptr null, ptr null, i32 0, ptr null)
  br label %made
large:
  %handler = load ptr, ptr @g_handler
  %before = call ptr @PyDataMem_SetHandler(ptr %handler)
  %kept = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 %rank, ptr %shape, ptr null, ptr null, i32 0, ptr null)
  %ours = call ptr @PyDataMem_SetHandler(ptr %before)
  call void @Py_DecRef(ptr %before)
  call void @Py_DecRef(ptr %ours)
  br label %made
made:
  %out = phi ptr [%fresh, %small], [%kept, %large]
  %lost = icmp eq ptr %out, null
  br i1 %lost, label %fail, label %fill
fail:
  ret ptr null
fill:
  %a_data = call i64 @word(ptr %a, i64 2)
  %b_data = call i64 @word(ptr %b, i64 2)
  %start_word = ptrtoint ptr %start to i64
  %out_data = call i64 @word(ptr %out, i64 2)
  call void @set_word(ptr %context, i64 0, i64 %a_data)
  call void @set_word(ptr %context, i64 1, i64 %b_data)
  call void @set_word(ptr %context, i64 2, i64 %start_word)
  call void @set_word(ptr %context, i64 3, i64 %out_data)
  %count = call i64 @word(ptr %plan, i64 18)
  %bytes = shl i64 %count, 3
  %numbers = getelementptr i64, ptr %plan, i64 19
  %behind = getelementptr i64, ptr %context, i64 4
  call void @llvm.memcpy.p0.p0.i64(ptr %behind, ptr %numbers, i64 %bytes, i1 false)
  %code = call ptr @pointer(ptr %plan, i64 15)
  %items = call i64 @word(ptr %plan, i64 16)
  call void @perform(ptr %code, ptr %context, i64 %items, i64 1)
  ret ptr %out
under:
  %beneath = call ptr @pointer(ptr %g, i64 0)
  %passed = call ptr @PyObject_Vectorcall(ptr %beneath, ptr %args, i64 %n, ptr %names)
  ret ptr %passed
}
