; Calls of operators of two arguments whose dtypes differ, such as a mask times floats, half precision times a number that it does
; not hold, whole numbers over whole numbers. mixing.py has an object for each, which makes them agree and calls the operator
; again. Of a function's words are 37 that object, and 38 whether whole numbers become floats.

@g_numpy_float64 = global ptr null
@g_numpy_float32 = global ptr null
@g_numpy_int64 = global ptr null

; What sort of numbers an array has: 1 bool, 2 whole, 3 half precision, 4 float32 and float64; 0 any other.
define internal i64 @sort_of(ptr %array) {
entry:
  %dtype = call ptr @at(ptr %array, i64 56)
  %half = call i1 @is_half(ptr %dtype)
  br i1 %half, label %is_half_precision, label %look
is_half_precision:
  ret i64 3
look:
  %F32 = load ptr, ptr @p_float32
  %F64 = load ptr, ptr @p_float64
  %single = icmp eq ptr %dtype, %F32
  %double = icmp eq ptr %dtype, %F64
  %floating = or i1 %single, %double
  br i1 %floating, label %is_float, label %kind
is_float:
  ret i64 4
kind:
  %at = getelementptr i8, ptr %dtype, i64 24
  %letter = load i8, ptr %at
  switch i8 %letter, label %is_other [
    i8 98, label %is_bool
    i8 105, label %is_whole
    i8 117, label %is_whole
  ]
is_bool:
  ret i64 1
is_whole:
  ret i64 2
is_other:
  ret i64 0
}

; The result for arguments that do not agree; null for any other call, and where an error has to be said in the operator's words.
define internal ptr @mixed_call(ptr %words, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %mixer = call ptr @pointer(ptr %words, i64 37)
  %has = icmp ne ptr %mixer, null
  %n = and i64 %nargsf, 9223372036854775807
  %pair = icmp eq i64 %n, 2
  %unnamed = icmp eq ptr %names, null
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s = or i64 %s0, %s2
  %usual = icmp eq i64 %s, 0
  %c0 = and i1 %has, %pair
  %c1 = and i1 %c0, %unnamed
  %c = and i1 %c1, %usual
  br i1 %c, label %first, label %no
first:
  %a = call ptr @pointer(ptr %args, i64 0)
  %b = call ptr @pointer(ptr %args, i64 1)
  %a_type = call ptr @at(ptr %a, i64 8)
  %a_is = call i1 @is_tensor(ptr %a_type)
  br i1 %a_is, label %first_array, label %no
first_array:
  %x = call ptr @plain_array(ptr %a, i32 0)
  %x_none = icmp eq ptr %x, null
  br i1 %x_none, label %no, label %sort
sort:
  %x_sort = call i64 @sort_of(ptr %x)
  %foreign = icmp eq i64 %x_sort, 0
  %floats_word = call i64 @word(ptr %words, i64 38)
  %floats = icmp ne i64 %floats_word, 0
  br i1 %foreign, label %no, label %second
second:
  %b_type = call ptr @at(ptr %b, i64 8)
  %b_is = call i1 @is_tensor(ptr %b_type)
  br i1 %b_is, label %second_array, label %number
second_array:
  %y = call ptr @plain_array(ptr %b, i32 0)
  %y_none = icmp eq ptr %y, null
  br i1 %y_none, label %no, label %both
both:
  %y_sort = call i64 @sort_of(ptr %y)
  %y_foreign = icmp eq i64 %y_sort, 0
  br i1 %y_foreign, label %no, label %differ
differ:
  %x_dtype = call ptr @at(ptr %x, i64 56)
  %y_dtype = call ptr @at(ptr %y, i64 56)
  %other = icmp ne ptr %x_dtype, %y_dtype
  %no_floats = icmp slt i64 %x_sort, 3
  %become = and i1 %floats, %no_floats
  %mixed = or i1 %other, %become
  br i1 %mixed, label %call, label %no
number:
  %Float = load ptr, ptr @g_float
  %Int = load ptr, ptr @g_int
  %is_float = icmp eq ptr %b_type, %Float
  %is_int = icmp eq ptr %b_type, %Int
  %counts = or i1 %is_float, %is_int
  %below = icmp slt i64 %x_sort, 4
  %is_bool = icmp eq i64 %x_sort, 1
  %is_half_precision = icmp eq i64 %x_sort, 3
  %raised0 = or i1 %is_float, %is_bool
  %raised1 = or i1 %raised0, %is_half_precision
  %raised2 = or i1 %raised1, %floats
  %n0 = and i1 %counts, %below
  %n1 = and i1 %n0, %raised2
  %False = load ptr, ptr @g_False
  %Bool = call ptr @at(ptr %False, i64 8)
  %is_bool_too = icmp eq ptr %b_type, %Bool
  %two_bools = and i1 %is_bool, %is_bool_too
  %Double = load ptr, ptr @g_numpy_float64
  %Single = load ptr, ptr @g_numpy_float32
  %Long = load ptr, ptr @g_numpy_int64
  %e0 = icmp eq ptr %b_type, %Double
  %e1 = icmp eq ptr %b_type, %Single
  %e2 = icmp eq ptr %b_type, %Long
  %n2 = or i1 %n1, %two_bools
  %n3 = or i1 %e0, %e1
  %n4 = or i1 %n2, %e2
  %n5 = or i1 %n3, %n4
  br i1 %n5, label %call, label %no
call:
  %result = call ptr @PyObject_Vectorcall(ptr %mixer, ptr %args, i64 2, ptr null)
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %clear, label %answered
clear:
  call void @forget()
  br label %no
answered:
  %NotImplemented = load ptr, ptr @g_NotImplemented
  %refused = icmp eq ptr %result, %NotImplemented
  br i1 %refused, label %drop, label %yes
drop:
  call void @Py_DecRef(ptr %result)
  br label %no
yes:
  ret ptr %result
no:
  ret ptr null
}
