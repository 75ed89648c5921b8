; Calls of operators without the interpreter: what stands in the `vectorcall` field of a function such as tenfold.add, for
; tensors of the CPU that lie in one piece while no layer is entered. Everything else goes to the function's own code.
; call_paths.py fills the p_… variables and the words of each function: 0 arguments at least, 1 parameters, 2 the kernels by
; device, 3 whether its body records what has no rule, 4 the name under which the globals have what gives results their node, 5
; the flags that arrays have to have (and bit 32 where they may be of half precision, without gradients), 6 recording.ll's words for the rule at 7; at 8 the parameters' roles (1 a tensor, 2 that or a
; number, 3 a value, 4 a value that has to be the default and that kernels do
; not get, 5 a tensor or None, 6 a list of tensors, 7 an int, 8 a bool, 9 a float or int, 10 a tensor of bool, 11 an int or several,
; of which kernels get a tuple; 16 more where None will do, too), at 16 their defaults, at 24 their names; 32 is writing.ll's,
; views.ll's and scattering.ll's, as are those behind it; 36 is the function of the form in place that `inplace=True` asks for, 37 and
; 38 are mixing.ll's, 39 and 40 multiples.ll's, 41 to 43 forms.ll's; 44 says that the
; kernel may be any function, whose result may be a number of NumPy's.

@p_Tensor = global ptr null
@p_Parameter = global ptr null
@p_CPU = global ptr null
@p_globals = global ptr null   ; the globals of all generated call paths
@p_builtin = global ptr null   ; the type of a native kernel
@p_float32 = global ptr null
@p_float64 = global ptr null
@p_float16 = global ptr null
@p_bfloat16 = global ptr null
@p_flags = global ptr null     ; four numbers: whether any thread has layers, no gradients, inference mode or transforms
@p_function = global ptr null  ; the type of functions in Python
@p_ordinary = global ptr null  ; the vectorcall of functions in Python
@p_learn = global ptr null         ; a function that is told of a new rule
@p_thread = global ptr null        ; the state of each thread
@p_grad_enabled = global ptr null  ; the string "grad_enabled"
; Where a tensor's fields lie.
@p_array = global i64 0
@p_key = global i64 0
@p_node = global i64 0
@p_storage = global i64 0
@p_base = global i64 0

@p_coerce = global ptr null        ; makes an array of a kernel's result
@p_exception = global ptr null     ; the class of what calls raise

declare ptr @PyType_GenericAlloc(ptr, i64)
declare i32 @PyErr_ExceptionMatches(ptr)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare ptr @PyObject_GetAttr(ptr, ptr)
declare ptr @PyList_New(i64)
declare i32 @PyList_SetItem(ptr, i64, ptr)

; What another way will raise in its own words is dropped; not what came from outside, as Ctrl-C does.
define void @forget() {
entry:
  %Exception = load ptr, ptr @p_exception
  %is = call i32 @PyErr_ExceptionMatches(ptr %Exception)
  %of_the_call = icmp ne i32 %is, 0
  br i1 %of_the_call, label %clear, label %done
clear:
  call void @PyErr_Clear()
  br label %done
done:
  ret void
}

; The function as it stands in Python, unless an interrupt is there already, which is not to be run over.
define ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %interrupt = call ptr @PyErr_Occurred()
  %none = icmp eq ptr %interrupt, null
  br i1 %none, label %call, label %raise
call:
  %ordinary = load ptr, ptr @p_ordinary
  %result = call ptr %ordinary(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %result
raise:
  ret ptr null
}

define internal ptr @field(ptr %object, ptr %place) alwaysinline {
  %offset = load i64, ptr %place
  %p = getelementptr i8, ptr %object, i64 %offset
  %v = load ptr, ptr %p
  ret ptr %v
}

define internal void @set_field(ptr %object, ptr %place, ptr %value) alwaysinline {
  %offset = load i64, ptr %place
  %p = getelementptr i8, ptr %object, i64 %offset
  store ptr %value, ptr %p
  ret void
}

define internal i1 @is_tensor(ptr %type) alwaysinline {
  %Tensor = load ptr, ptr @p_Tensor
  %Parameter = load ptr, ptr @p_Parameter
  %t = icmp eq ptr %type, %Tensor
  %p = icmp eq ptr %type, %Parameter
  %any = or i1 %t, %p
  ret i1 %any
}

; Whether an object is a float or an int, a bool not taken for one. Some operators refuse floats that float32 has no place for, and
; ints beyond 64 bits: those of more than two digits, whose count is in the word after an int's head from its fourth bit on.
define internal i1 @is_number(ptr %v) alwaysinline {
entry:
  %type = call ptr @at(ptr %v, i64 8)
  %Float = load ptr, ptr @g_float
  %Int = load ptr, ptr @g_int
  %float = icmp eq ptr %type, %Float
  %int = icmp eq ptr %type, %Int
  br i1 %float, label %look, label %whole
whole:
  br i1 %int, label %count, label %done
count:
  %digits = call i64 @word(ptr %v, i64 2)
  %short = icmp ult i64 %digits, 24
  br label %done
look:
  %at = getelementptr i8, ptr %v, i64 16
  %f = load double, ptr %at
  %size = call double @llvm.fabs.f64(double %f)
  %large = fcmp ogt double %size, 0x47EFFFFFE0000000
  %finite = fcmp one double %size, 0x7FF0000000000000
  %beyond = and i1 %large, %finite
  %moderate = xor i1 %beyond, true
  br label %done
done:
  %is = phi i1 [false, %whole], [%short, %count], [%moderate, %look]
  ret i1 %is
}

; The array of a tensor of the CPU with these flags; null for any other.
define ptr @plain_array(ptr %tensor, i32 %wanted) {
entry:
  %CPU = load ptr, ptr @p_CPU
  %key = call ptr @field(ptr %tensor, ptr @p_key)
  %here = icmp eq ptr %key, %CPU
  br i1 %here, label %look, label %no
look:
  %array = call ptr @field(ptr %tensor, ptr @p_array)
  %node = call ptr @field(ptr %tensor, ptr @p_node)
  %empty1 = icmp eq ptr %array, null
  %empty2 = icmp eq ptr %node, null
  %empty = or i1 %empty1, %empty2
  br i1 %empty, label %no, label %type
type:
  %Array = load ptr, ptr @g_ndarray
  %of = call ptr @at(ptr %array, i64 8)
  %is = icmp eq ptr %of, %Array
  br i1 %is, label %flags, label %no
flags:
  %solid = call i1 @has_flags(ptr %array, i32 %wanted)
  br i1 %solid, label %yes, label %no
yes:
  ret ptr %array
no:
  ret ptr null
}

; Whether a further array of an elementwise operator may be served with those before: all row by row, or all of one shape and laid
; alike. `ref_is` has the first of them.
define internal i1 @goes_with(ptr %array, ptr %ref_is) {
entry:
  %ref = load ptr, ptr %ref_is
  %first = icmp eq ptr %ref, null
  %rows = call i1 @has_flags(ptr %array, i32 1)
  br i1 %first, label %keep, label %other
keep:
  store ptr %array, ptr %ref_is
  %dense = call i1 @is_dense(ptr %array)
  ret i1 %dense
other:
  %ref_rows = call i1 @has_flags(ptr %ref, i32 1)
  %both = and i1 %rows, %ref_rows
  br i1 %both, label %yes, label %shape
shape:
  %same = call i1 @same_shape(ptr %ref, ptr %array)
  br i1 %same, label %order, label %no
order:
  %alike = call i1 @laid_alike(ptr %ref, ptr %array)
  ret i1 %alike
yes:
  ret i1 true
no:
  ret i1 false
}

; The arguments of a call in the parameters' order, but the last names, defaults filled in; false where they do not fit.
define internal i1 @arrange(ptr %words, ptr %args, i64 %n, ptr %names, i64 %but, ptr %values) {
entry:
  %most = call i64 @word(ptr %words, i64 1)
  %least = call i64 @word(ptr %words, i64 0)
  %many = icmp sgt i64 %n, %most
  br i1 %many, label %no, label %given
given:
  %i = phi i64 [0, %entry], [%inext, %copy]
  %idone = icmp eq i64 %i, %n
  br i1 %idone, label %defaults, label %copy
copy:
  %v = call ptr @pointer(ptr %args, i64 %i)
  %slot = getelementptr ptr, ptr %values, i64 %i
  store ptr %v, ptr %slot
  %inext = add i64 %i, 1
  br label %given
defaults:
  %d = phi i64 [%n, %given], [%dnext, %fill]
  %ddone = icmp eq i64 %d, %most
  br i1 %ddone, label %named, label %fill
fill:
  %d_at = add i64 %d, 16
  %default = call ptr @pointer(ptr %words, i64 %d_at)
  %d_slot = getelementptr ptr, ptr %values, i64 %d
  store ptr %default, ptr %d_slot
  %dnext = add i64 %d, 1
  br label %defaults
named:
  %unnamed = icmp eq ptr %names, null
  br i1 %unnamed, label %check, label %keywords
keywords:
  %names_count = call i64 @word(ptr %names, i64 2)
  %count = sub i64 %names_count, %but
  br label %keyword
keyword:
  %k = phi i64 [0, %keywords], [%knext, %put]
  %kdone = icmp eq i64 %k, %count
  br i1 %kdone, label %check, label %look
look:
  %k_at = add i64 %k, 3
  %name = call ptr @pointer(ptr %names, i64 %k_at)
  br label %search
search:
  %p = phi i64 [%n, %look], [%pnext, %other]
  %pdone = icmp sge i64 %p, %most
  br i1 %pdone, label %no, label %compare
compare:
  %p_at = add i64 %p, 24
  %known = call ptr @pointer(ptr %words, i64 %p_at)
  %is = icmp eq ptr %known, %name
  br i1 %is, label %put, label %other
other:
  %pnext = add i64 %p, 1
  br label %search
put:
  %value_at = add i64 %n, %k
  %value = call ptr @pointer(ptr %args, i64 %value_at)
  %p_slot = getelementptr ptr, ptr %values, i64 %p
  store ptr %value, ptr %p_slot
  %knext = add i64 %k, 1
  br label %keyword
check:  ; a parameter without a default that nothing was given for
  %c = phi i64 [0, %named], [0, %keyword], [%cnext, %more]
  %cdone = icmp eq i64 %c, %least
  br i1 %cdone, label %yes, label %one
one:
  %c_value = call ptr @pointer(ptr %values, i64 %c)
  %missing = icmp eq ptr %c_value, null
  br i1 %missing, label %no, label %more
more:
  %cnext = add i64 %c, 1
  br label %check
yes:
  ret i1 true
no:
  ret i1 false
}

; The arrays of a list or tuple of tensors, all plain and of one dtype, as a new list; null where one is not.
define internal ptr @plain_list(ptr %tensors, i32 %wanted, ptr %dtype_is, ptr %recorded_is) {
entry:
  %None = load ptr, ptr @g_None
  %List = load ptr, ptr @g_list
  %Tuple = load ptr, ptr @g_tuple
  %type = call ptr @at(ptr %tensors, i64 8)
  %listed = icmp eq ptr %type, %List
  %in_tuple = icmp eq ptr %type, %Tuple
  %known = or i1 %listed, %in_tuple
  br i1 %known, label %open, label %no
open:
  %inside = call ptr @at(ptr %tensors, i64 24)
  %beside = getelementptr i8, ptr %tensors, i64 24
  %items = select i1 %listed, ptr %inside, ptr %beside
  %n = call i64 @word(ptr %tensors, i64 2)
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %check, label %no
check:
  %i = phi i64 [0, %open], [%inext, %fine]
  %end = icmp eq i64 %i, %n
  br i1 %end, label %make, label %one
one:
  %v = call ptr @pointer(ptr %items, i64 %i)
  %v_type = call ptr @at(ptr %v, i64 8)
  %is = call i1 @is_tensor(ptr %v_type)
  br i1 %is, label %array, label %no
array:
  %x = call ptr @plain_array(ptr %v, i32 %wanted)
  %missing = icmp eq ptr %x, null
  br i1 %missing, label %no, label %dtype
dtype:
  %fits = call i1 @agrees(ptr %x, ptr %dtype_is, i1 false)
  br i1 %fits, label %fine, label %no
fine:
  %node = call ptr @field(ptr %v, ptr @p_node)
  %recorded = icmp ne ptr %node, %None
  %so_far = load i1, ptr %recorded_is
  %or = or i1 %so_far, %recorded
  store i1 %or, ptr %recorded_is
  %inext = add i64 %i, 1
  br label %check
make:
  %made = call ptr @PyList_New(i64 %n)
  %lost = icmp eq ptr %made, null
  br i1 %lost, label %clear, label %fill
clear:
  call void @PyErr_Clear()
  br label %no
fill:
  %j = phi i64 [0, %make], [%jnext, %fill]
  %w = call ptr @pointer(ptr %items, i64 %j)
  %y = call ptr @field(ptr %w, ptr @p_array)
  call void @Py_IncRef(ptr %y)
  %set = call i32 @PyList_SetItem(ptr %made, i64 %j, ptr %y)
  %jnext = add i64 %j, 1
  %more = icmp slt i64 %jnext, %n
  br i1 %more, label %fill, label %yes
yes:
  ret ptr %made
no:
  ret ptr null
}

; Whether a dtype is float16 or bfloat16.
define internal i1 @is_half(ptr %dt) alwaysinline {
entry:
  %F16 = load ptr, ptr @p_float16
  %BF16 = load ptr, ptr @p_bfloat16
  %half = icmp eq ptr %dt, %F16
  %brief = icmp eq ptr %dt, %BF16
  %is = or i1 %half, %brief
  ret i1 %is
}

; Whether an array has the dtype of those before it, or as the first of them float32 or float64, or half precision if it may.
define internal i1 @agrees(ptr %array, ptr %dtype_is, i1 %half) alwaysinline {
entry:
  %dt = call ptr @at(ptr %array, i64 56)
  %known = load ptr, ptr %dtype_is
  %first = icmp eq ptr %known, null
  br i1 %first, label %which, label %agree
which:
  %F32 = load ptr, ptr @p_float32
  %F64 = load ptr, ptr @p_float64
  %single = icmp eq ptr %dt, %F32
  %double = icmp eq ptr %dt, %F64
  %floating = or i1 %single, %double
  %is_half = call i1 @is_half(ptr %dt)
  %may = and i1 %half, %is_half
  %served = or i1 %floating, %may
  store ptr %dt, ptr %dtype_is
  ret i1 %served
agree:
  %same = icmp eq ptr %dt, %known
  ret i1 %same
}

; Whether this thread records gradients.
define i1 @grad_is_on() {
entry:
  %state = load ptr, ptr @p_thread
  %name = load ptr, ptr @p_grad_enabled
  %is = call ptr @PyObject_GetAttr(ptr %state, ptr %name)
  %lost = icmp eq ptr %is, null
  br i1 %lost, label %clear, label %look
clear:
  call void @PyErr_Clear()
  ret i1 true
look:
  call void @Py_DecRef(ptr %is)
  %True = load ptr, ptr @g_True
  %on = icmp eq ptr %is, %True
  ret i1 %on
}

; A tensor of the CPU that has the array, whose reference it takes, and no node.
define ptr @new_tensor(ptr %array) {
entry:
  %Tensor = load ptr, ptr @p_Tensor
  %t = call ptr @PyType_GenericAlloc(ptr %Tensor, i64 0)
  %lost = icmp eq ptr %t, null
  br i1 %lost, label %lose, label %fill
lose:
  call void @Py_DecRef(ptr %array)
  ret ptr null
fill:
  %CPU = load ptr, ptr @p_CPU
  %None = load ptr, ptr @g_None
  call void @Py_IncRef(ptr %CPU)
  call void @Py_IncRef(ptr %None)
  call void @Py_IncRef(ptr %None)
  call void @Py_IncRef(ptr %None)
  call void @set_field(ptr %t, ptr @p_array, ptr %array)
  call void @set_field(ptr %t, ptr @p_key, ptr %CPU)
  call void @set_field(ptr %t, ptr @p_storage, ptr %None)
  call void @set_field(ptr %t, ptr @p_base, ptr %None)
  call void @set_field(ptr %t, ptr @p_node, ptr %None)
  ret ptr %t
}

; The same of an operator's result: one that does not lie row by row has a storage, by which operators know that they must look at
; strides.
define internal ptr @result_tensor(ptr %array) {
entry:
  %solid = call i1 @has_flags(ptr %array, i32 1)
  %t = call ptr @new_tensor(ptr %array)
  %lost = icmp eq ptr %t, null
  %as_it_is = or i1 %solid, %lost
  br i1 %as_it_is, label %done, label %note
note:
  %storage = call ptr @new_storage(ptr %array)
  %none = icmp eq ptr %storage, null
  br i1 %none, label %drop, label %put
drop:
  call void @Py_DecRef(ptr %t)
  ret ptr null
put:
  call void @replace(ptr %t, ptr @p_storage, ptr %storage)
  br label %done
done:
  ret ptr %t
}

; What all functions with words share: it finds them by the function. Functions made for each took most of the time that compiling
; this file took.
@p_table = global [4096 x i64] zeroinitializer  ; a function and its words, each at or behind the place that its address says

; The words of a function; null where it has none.
define internal ptr @words_of(ptr %function) alwaysinline {
entry:
  %number = ptrtoint ptr %function to i64
  %first = lshr i64 %number, 4
  br label %look
look:
  %place = phi i64 [%first, %entry], [%next, %other]
  %inside = and i64 %place, 2047
  %at = shl i64 %inside, 1
  %p = getelementptr ptr, ptr @p_table, i64 %at
  %known = load ptr, ptr %p
  %found = icmp eq ptr %known, %function
  br i1 %found, label %yes, label %other
other:
  %next = add i64 %place, 1
  %none = icmp eq ptr %known, null
  br i1 %none, label %no, label %look
yes:
  %words_at = getelementptr ptr, ptr %p, i64 1
  %words = load ptr, ptr %words_at
  ret ptr %words
no:
  ret ptr null
}

define ptr @path(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
  %words = call ptr @words_of(ptr %function)
  %result = tail call ptr @call_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %result
}

; The call of a function with these words.
define internal ptr @call_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %list_is = alloca ptr  ; what was made for the kernel only
  %kind = call i64 @word(ptr %words, i64 32)
  %writes = icmp sgt i64 %kind, 3
  br i1 %writes, label %write, label %make
write:
  %converts = icmp eq i64 %kind, 8
  %views = icmp sgt i64 %kind, 15
  br i1 %views, label %view, label %write_or_convert
view:
  %scatters = icmp sgt i64 %kind, 31
  br i1 %scatters, label %scatter, label %view_it
scatter:
  %compares = icmp eq i64 %kind, 40
  br i1 %compares, label %compare, label %scatter_it
compare:
  %compared = tail call ptr @places_path(ptr @later_equal_path, ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %compared
scatter_it:
  %is_quick = icmp eq i64 %kind, 42
  br i1 %is_quick, label %in_python, label %share_or_scatter
in_python:
  %quickly = tail call ptr @quick_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %quickly
share_or_scatter:
  %shares = icmp eq i64 %kind, 41
  br i1 %shares, label %share, label %scatter_now
share:
  %shared = tail call ptr @share_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %shared
scatter_now:
  %scattered = tail call ptr @places_path(ptr @later_scatter_path, ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %scattered
view_it:
  %viewed = tail call ptr @view_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %viewed
write_or_convert:
  br i1 %converts, label %convert, label %write_it
convert:
  %converted = tail call ptr @convert_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %converted
write_it:
  %written = tail call ptr @write_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %written
make:
  %form = call i64 @word(ptr %words, i64 41)
  %has_form = icmp ne i64 %form, 0
  br i1 %has_form, label %formed, label %make_it
formed:
  %by_form = call ptr @form_call(ptr %words, i64 %form, ptr %args, i64 %nargsf, ptr %names)
  %not_formed = icmp eq ptr %by_form, null
  br i1 %not_formed, label %make_it, label %formed_it
formed_it:
  ret ptr %by_form
make_it:
  store ptr null, ptr %list_is
  %result = call ptr @attempt(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names, ptr %list_is)
  %list = load ptr, ptr %list_is
  %none = icmp eq ptr %list, null
  br i1 %none, label %done, label %drop
drop:
  call void @Py_DecRef(ptr %list)
  br label %done
done:
  ret ptr %result
}

; Whether all that a list has are ints, and no bools.
define internal i1 @lists_ints(ptr %list) {
entry:
  %Whole = load ptr, ptr @g_int
  %count = call i64 @word(ptr %list, i64 2)
  %items = call ptr @at(ptr %list, i64 24)
  br label %look
look:
  %i = phi i64 [0, %entry], [%next, %one]
  %end = icmp eq i64 %i, %count
  br i1 %end, label %done, label %one
one:
  %item = call ptr @pointer(ptr %items, i64 %i)
  %type = call ptr @at(ptr %item, i64 8)
  %is = icmp eq ptr %type, %Whole
  %next = add i64 %i, 1
  br i1 %is, label %look, label %done
done:
  ret i1 %end
}

define internal ptr @attempt(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names, ptr %list_is) alwaysinline {
entry:
  %values = alloca [8 x ptr]
  %given = alloca [9 x ptr]     ; what the kernel gets, and what it writes
  %attached = alloca [9 x ptr]  ; the result, and what the kernel got with tensors for arrays
  %told = alloca [2 x ptr]
  %dtype_is = alloca ptr
  %recorded_is = alloca i1
  %ref_is = alloca ptr
  %odd_is = alloca i1            ; whether an array is expanded, or lies row by row with gaps
  %odd_room = alloca [15 x i64]
  store ptr null, ptr %dtype_is
  store ptr null, ptr %ref_is
  store i1 false, ptr %recorded_is
  store i1 false, ptr %odd_is
  %n = and i64 %nargsf, 9223372036854775807
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s = or i64 %s0, %s2
  %usual = icmp eq i64 %s, 0
  br i1 %usual, label %order, label %slow
order:
  %unnamed = icmp eq ptr %names, null
  br i1 %unnamed, label %arranging, label %named
named:  ; out= comes last where it comes
  %names_count = call i64 @word(ptr %names, i64 2)
  %last_at = add i64 %names_count, 2
  %last_name = call ptr @pointer(ptr %names, i64 %last_at)
  %out_name = load ptr, ptr @g_out
  %is_out = icmp eq ptr %last_name, %out_name
  br i1 %is_out, label %has_out, label %arranging
has_out:
  %out_at0 = add i64 %n, %names_count
  %out_at = sub i64 %out_at0, 1
  %out_given = call ptr @pointer(ptr %args, i64 %out_at)
  br label %arranging
arranging:
  %out = phi ptr [null, %order], [null, %named], [%out_given, %has_out]
  %but = phi i64 [0, %order], [0, %named], [1, %has_out]
  %fits = call i1 @arrange(ptr %words, ptr %args, i64 %n, ptr %names, i64 %but, ptr %values)
  br i1 %fits, label %begin, label %slow
begin:
  %None = load ptr, ptr @g_None
  %count = call i64 @word(ptr %words, i64 1)
  %wanted_word = call i64 @word(ptr %words, i64 5)
  %all_wanted = trunc i64 %wanted_word to i32
  %writing = call i64 @word(ptr %words, i64 32)
  %elementwise_bit = and i64 %writing, 2
  %by_element = icmp ne i64 %elementwise_bit, 0
  %any_order = and i32 %all_wanted, -2  ; elementwise operators take other orders than row by row
  %wanted = select i1 %by_element, i32 %any_order, i32 %all_wanted
  %rows_bit = and i32 %all_wanted, 1
  %in_one_piece = icmp ne i32 %rows_bit, 0
  %look_at_order = and i1 %by_element, %in_one_piece
  %may_be_half = icmp sgt i64 %wanted_word, 4294967295
  br label %read
read:
  %i = phi i64 [0, %begin], [%inext, %next]
  %m = phi i64 [0, %begin], [%mnext, %next]
  %end = icmp eq i64 %i, %count
  br i1 %end, label %kernel, label %one
one:
  %v = call ptr @pointer(ptr %values, i64 %i)
  %role_at = add i64 %i, 8
  %role = call i64 @word(ptr %words, i64 %role_at)
  %may_lack = icmp uge i64 %role, 16
  %is_none = icmp eq ptr %v, %None
  %lacks = and i1 %may_lack, %is_none
  br i1 %lacks, label %pass, label %by_role
by_role:
  %sort = and i64 %role, 15
  switch i64 %sort, label %slow [
    i64 1, label %tensor
    i64 2, label %either
    i64 3, label %pass
    i64 4, label %neutral
    i64 5, label %optional
    i64 6, label %listed
    i64 7, label %whole
    i64 8, label %flag
    i64 9, label %number
    i64 10, label %tensor
    i64 11, label %dims
  ]
dims:
  %d_type = call ptr @at(ptr %v, i64 8)
  %an_int = load ptr, ptr @g_int
  %Tuple = load ptr, ptr @g_tuple
  %List = load ptr, ptr @g_list
  %is_dim = icmp eq ptr %d_type, %an_int
  %is_tuple = icmp eq ptr %d_type, %Tuple
  %stays = or i1 %is_dim, %is_tuple
  br i1 %stays, label %pass, label %perhaps_several
perhaps_several:
  %is_list = icmp eq ptr %d_type, %List
  br i1 %is_list, label %several, label %slow
several:
  %all_ints = call i1 @lists_ints(ptr %v)
  %held = load ptr, ptr %list_is
  %none_held = icmp eq ptr %held, null
  %may_hold = and i1 %all_ints, %none_held
  br i1 %may_hold, label %hold, label %slow
hold:
  %d = call ptr @PySequence_Tuple(ptr %v)
  %no_d = icmp eq ptr %d, null
  br i1 %no_d, label %no_tuple, label %held_dims
no_tuple:
  call void @PyErr_Clear()
  br label %slow
held_dims:
  store ptr %d, ptr %list_is
  br label %pass
flag:
  %f_type = call ptr @at(ptr %v, i64 8)
  %a_flag = load ptr, ptr @g_True
  %Flag = call ptr @at(ptr %a_flag, i64 8)
  %is_flag = icmp eq ptr %f_type, %Flag
  br i1 %is_flag, label %pass, label %slow
whole:
  %w_type = call ptr @at(ptr %v, i64 8)
  %Whole = load ptr, ptr @g_int
  %is_whole = icmp eq ptr %w_type, %Whole
  br i1 %is_whole, label %pass, label %slow
neutral:
  %default_at = add i64 %i, 16
  %default = call ptr @pointer(ptr %words, i64 %default_at)
  %is_default = icmp eq ptr %default, %v
  br i1 %is_default, label %next, label %other_value
other_value:  ; inplace=True, the last parameter of an operator that has a form in place
  %in_place = call ptr @pointer(ptr %words, i64 36)
  %has_form = icmp ne ptr %in_place, null
  %before_last = sub i64 %count, 1
  %is_last = icmp eq i64 %i, %before_last
  %True = load ptr, ptr @g_True
  %is_true = icmp eq ptr %v, %True
  %no_out = icmp eq ptr %out, null
  %p0 = and i1 %has_form, %is_last
  %p1 = and i1 %is_true, %no_out
  %written_there = and i1 %p0, %p1
  br i1 %written_there, label %call_in_place, label %slow
call_in_place:
  %written = call ptr @PyObject_Vectorcall(ptr %in_place, ptr %values, i64 %i, ptr null)
  ret ptr %written
optional:
  %absent = icmp eq ptr %v, %None
  br i1 %absent, label %pass, label %tensor
either:
  %is_number = call i1 @is_number(ptr %v)
  br i1 %is_number, label %pass, label %tensor
number:
  %counts = call i1 @is_number(ptr %v)
  br i1 %counts, label %pass, label %slow
tensor:
  %t_type = call ptr @at(ptr %v, i64 8)
  %t_is = call i1 @is_tensor(ptr %t_type)
  br i1 %t_is, label %array, label %slow
array:
  %x = call ptr @plain_array(ptr %v, i32 %wanted)
  %x_none = icmp eq ptr %x, null
  br i1 %x_none, label %slow, label %arranged
arranged:
  br i1 %look_at_order, label %how_it_lies, label %dtype
how_it_lies:
  %x_rows = call i1 @has_flags(ptr %x, i32 1)
  br i1 %x_rows, label %beside_others, label %perhaps_odd
perhaps_odd:
  %odd_rows = call i64 @rows_of(ptr %x, ptr %odd_room)
  %x_odd = icmp sgt i64 %odd_rows, 0
  br i1 %x_odd, label %odd, label %beside_others
odd:
  store i1 true, ptr %odd_is
  br label %dtype
beside_others:
  %x_goes = call i1 @goes_with(ptr %x, ptr %ref_is)
  br i1 %x_goes, label %dtype, label %slow
dtype:
  %is_mask = icmp eq i64 %sort, 10
  br i1 %is_mask, label %mask, label %common_dtype
mask:
  %Bool = load ptr, ptr @g_bool_dtype
  %x_dtype = call ptr @at(ptr %x, i64 56)
  %x_holds = icmp eq ptr %x_dtype, %Bool
  br i1 %x_holds, label %node, label %slow
common_dtype:
  %x_fits = call i1 @agrees(ptr %x, ptr %dtype_is, i1 %may_be_half)
  br i1 %x_fits, label %node, label %slow
listed:
  %l = call ptr @plain_list(ptr %v, i32 %wanted, ptr %dtype_is, ptr %recorded_is)
  %l_none = icmp eq ptr %l, null
  store ptr %l, ptr %list_is
  br i1 %l_none, label %slow, label %pass
node:
  %v_node = call ptr @field(ptr %v, ptr @p_node)
  %v_recorded = icmp ne ptr %v_node, %None
  %so_far = load i1, ptr %recorded_is
  %or = or i1 %so_far, %v_recorded
  store i1 %or, ptr %recorded_is
  br label %pass
pass:
  %passed = phi ptr [%v, %one], [%v, %by_role], [%v, %optional], [%v, %either], [%v, %whole], [%v, %flag], [%v, %number], [%x, %node], [%l, %listed], [%v, %dims], [%d, %held_dims]
  %noted = phi ptr [%v, %one], [%v, %by_role], [%v, %optional], [%v, %either], [%v, %whole], [%v, %flag], [%v, %number], [%v, %node], [%v, %listed], [%v, %dims], [%d, %held_dims]
  %g_slot = getelementptr ptr, ptr %given, i64 %m
  store ptr %passed, ptr %g_slot
  %m1 = add i64 %m, 1
  %a_slot = getelementptr ptr, ptr %attached, i64 %m1
  store ptr %noted, ptr %a_slot
  br label %next
next:
  %mnext = phi i64 [%m, %neutral], [%m1, %pass]
  %inext = add i64 %i, 1
  br label %read

kernel:
  %first_role = call i64 @word(ptr %words, i64 8)
  %first_number = icmp eq i64 %first_role, 2
  %dtype_now = load ptr, ptr %dtype_is
  %no_tensor = icmp eq ptr %dtype_now, null
  %numbers_alone = and i1 %first_number, %no_tensor
  br i1 %numbers_alone, label %slow, label %some_tensor
some_tensor:
  %any_odd = load i1, ptr %odd_is
  br i1 %any_odd, label %odd_beside, label %begin_kernel
odd_beside:  ; then the result lies row by row, as the others have to
  %odd_ref = load ptr, ptr %ref_is
  %odd_alone = icmp eq ptr %odd_ref, null
  br i1 %odd_alone, label %begin_kernel, label %odd_ref_rows
odd_ref_rows:
  %all_rows = call i1 @has_flags(ptr %odd_ref, i32 1)
  br i1 %all_rows, label %begin_kernel, label %slow
begin_kernel:
  %has_node = load i1, ptr %recorded_is
  %of_dtype = load ptr, ptr %dtype_is
  %of_half = call i1 @is_half(ptr %of_dtype)
  %written_to = icmp ne ptr %out, null
  %more_than_made = or i1 %has_node, %written_to
  %half_of_more = and i1 %of_half, %more_than_made
  br i1 %half_of_more, label %slow, label %known_dtype
known_dtype:
  %s1 = call i64 @word(ptr %flags, i64 1)
  %all_on = icmp eq i64 %s1, 0
  %nobody_off = xor i1 %has_node, true
  %plainly = or i1 %all_on, %nobody_off
  br i1 %plainly, label %decided, label %ask_thread
ask_thread:  ; some thread has switched gradients off, perhaps this one
  %on_here = call i1 @grad_is_on()
  br label %decided
decided:
  %recorded = phi i1 [%has_node, %known_dtype], [%on_here, %ask_thread]
  %attach_name = call ptr @pointer(ptr %words, i64 4)
  %no_rule = icmp eq ptr %attach_name, null
  %unneeded = icmp eq ptr %attach_name, inttoptr (i64 1 to ptr)
  %stop = and i1 %recorded, %no_rule
  br i1 %stop, label %slow, label %rule
rule:
  %needed = xor i1 %unneeded, true
  %record = and i1 %recorded, %needed
  br i1 %record, label %find_rule, label %find
find_rule:
  %globals = load ptr, ptr @p_globals
  %attach = call ptr @PyDict_GetItemWithError(ptr %globals, ptr %attach_name)
  %no_attach = icmp eq ptr %attach, null
  br i1 %no_attach, label %slow, label %own_rule
own_rule:  ; a composite without a rule of its own is recorded by its body, and has never been asked to attach one
  %has_body = call i64 @word(ptr %words, i64 3)
  %Function = load ptr, ptr @p_function
  %attach_type = call ptr @at(ptr %attach, i64 8)
  %made_rule = icmp eq ptr %attach_type, %Function
  %no_body = icmp eq i64 %has_body, 0
  %may_record = or i1 %made_rule, %no_body
  br i1 %may_record, label %find, label %of_body
of_body:
  %no_place = icmp eq ptr %out, null
  br i1 %no_place, label %norm, label %slow
norm:
  %normed = call ptr @norm_recorded(ptr %function, ptr %given, ptr %attached)
  %not_normed = icmp eq ptr %normed, null
  br i1 %not_normed, label %slow, label %normed_it
normed_it:
  ret ptr %normed
find:
  %rule_found = phi ptr [null, %rule], [%attach, %own_rule]
  %CPU = load ptr, ptr @p_CPU
  %kernels = call ptr @pointer(ptr %words, i64 2)
  %k = call ptr @PyDict_GetItemWithError(ptr %kernels, ptr %CPU)
  %unknown = icmp eq ptr %k, null
  br i1 %unknown, label %slow, label %native
native:
  %Builtin = load ptr, ptr @p_builtin
  %k_type = call ptr @at(ptr %k, i64 8)
  %is_native = icmp eq ptr %k_type, %Builtin
  %any_word = call i64 @word(ptr %words, i64 44)
  %may_be_any = icmp ne i64 %any_word, 0
  %k_there = icmp ne ptr %k, %None
  %other_kernel = and i1 %may_be_any, %k_there
  %callable = or i1 %is_native, %other_kernel
  br i1 %callable, label %where_to, label %slow
where_to:
  %makes = icmp eq ptr %out, null
  br i1 %makes, label %run, label %into
into:
  store i1 false, ptr %recorded_is
  br i1 %has_node, label %slow, label %into_it
into_it:
  %put = call ptr @write_out(ptr %words, ptr %values, ptr %k, ptr %given, i64 %m, ptr %out, ptr %dtype_is, ptr %recorded_is)
  %put_none = icmp eq ptr %put, null
  br i1 %put_none, label %into_nothing, label %put_there
put_there:
  ret ptr %put
into_nothing:
  %wrong = load i1, ptr %recorded_is
  br i1 %wrong, label %lose, label %slow
run:
  %r_kernel = call ptr @PyObject_Vectorcall(ptr %k, ptr %given, i64 %m, ptr null)
  %failed = icmp eq ptr %r_kernel, null
  br i1 %failed, label %clear, label %found_it
clear:  ; the ordinary path says what is wrong
  call void @forget()
  br label %slow
found_it:  ; NumPy's reductions give numbers for single elements
  %k_array = load ptr, ptr @g_ndarray
  %r_kernel_type = call ptr @at(ptr %r_kernel, i64 8)
  %made_array = icmp eq ptr %r_kernel_type, %k_array
  %NotImplemented = load ptr, ptr @g_NotImplemented
  %r_refused = icmp eq ptr %r_kernel, %NotImplemented
  %as_it_is = or i1 %made_array, %r_refused
  br i1 %as_it_is, label %result, label %coerce_it
coerce_it:
  store ptr %r_kernel, ptr %told
  %coercing = load ptr, ptr @p_coerce
  %r_coerced = call ptr @PyObject_Vectorcall(ptr %coercing, ptr %told, i64 1, ptr null)
  call void @Py_DecRef(ptr %r_kernel)
  %uncoerced = icmp eq ptr %r_coerced, null
  br i1 %uncoerced, label %clear, label %result
result:
  %r = phi ptr [%r_kernel, %found_it], [%r_coerced, %coerce_it]
  %Array = load ptr, ptr @g_ndarray
  %r_type = call ptr @at(ptr %r, i64 8)
  %r_array = icmp eq ptr %r_type, %Array
  br i1 %r_array, label %layout, label %drop
layout:
  %r_solid = call i1 @has_flags(ptr %r, i32 1)
  %ref = load ptr, ptr %ref_is
  %no_ref = icmp eq ptr %ref, null
  %enough = or i1 %r_solid, %no_ref
  br i1 %enough, label %as_usual, label %as_they_lie
as_usual:
  br i1 %r_solid, label %wrap, label %drop
as_they_lie:
  %r_shape = call i1 @same_shape(ptr %ref, ptr %r)
  br i1 %r_shape, label %r_order, label %drop
r_order:
  %r_alike = call i1 @laid_alike(ptr %ref, ptr %r)
  br i1 %r_alike, label %wrap, label %drop
drop:
  call void @Py_DecRef(ptr %r)
  br label %slow
wrap:
  %t = call ptr @result_tensor(ptr %r)
  %lost = icmp eq ptr %t, null
  br i1 %lost, label %lose, label %fill
lose:
  ret ptr null
fill:
  br i1 %record, label %attach_it, label %done
done:
  ret ptr %t
attach_it:
  store ptr %t, ptr %attached
  %data = call ptr @pointer(ptr %words, i64 6)
  %of_rule = call ptr @pointer(ptr %words, i64 7)
  %learnt = icmp eq ptr %of_rule, %rule_found
  br i1 %learnt, label %has_data, label %learn
learn:  ; what Python knows of a new rule; the first use of one puts another in its place
  %learner = load ptr, ptr @p_learn
  %where_int = ptrtoint ptr %words to i64
  %where = call ptr @PyLong_FromSsize_t(i64 %where_int)
  %where_lost = icmp eq ptr %where, null
  br i1 %where_lost, label %lose_tensor, label %tell
tell:
  %told1 = getelementptr ptr, ptr %told, i64 1
  store ptr %where, ptr %told
  store ptr %rule_found, ptr %told1
  %answered = call ptr @PyObject_Vectorcall(ptr %learner, ptr %told, i64 2, ptr null)
  call void @Py_DecRef(ptr %where)
  %unanswered = icmp eq ptr %answered, null
  br i1 %unanswered, label %lose_tensor, label %learnt_it
learnt_it:
  call void @Py_DecRef(ptr %answered)
  br label %attach_slowly
lose_tensor:
  call void @Py_DecRef(ptr %t)
  ret ptr null
has_data:
  %no_data = icmp eq ptr %data, null
  br i1 %no_data, label %attach_slowly, label %attach_natively
attach_natively:
  %arguments = getelementptr ptr, ptr %attached, i64 1
  %recorded_it = call i1 @record(ptr %data, ptr %t, ptr %arguments)
  br i1 %recorded_it, label %done, label %attach_slowly
attach_slowly:
  %m_all = add i64 %m, 1
  call void @Py_IncRef(ptr %rule_found)  ; the first use of a rule puts another in its place
  %answer = call ptr @PyObject_Vectorcall(ptr %rule_found, ptr %attached, i64 %m_all, ptr null)
  call void @Py_DecRef(ptr %rule_found)
  %raised = icmp eq ptr %answer, null
  br i1 %raised, label %raise, label %recording
raise:
  call void @Py_DecRef(ptr %t)
  ret ptr null
recording:
  call void @Py_DecRef(ptr %answer)
  ret ptr %t
slow:
  %interrupt = call ptr @PyErr_Occurred()
  %undisturbed = icmp eq ptr %interrupt, null
  br i1 %undisturbed, label %mix, label %disturbed
disturbed:
  ret ptr null
mix:
  %mixed = call ptr @mixed_call(ptr %words, ptr %args, i64 %nargsf, ptr %names)
  %unmixed = icmp eq ptr %mixed, null
  br i1 %unmixed, label %with_multiple, label %agreed
agreed:
  ret ptr %mixed
with_multiple:
  %summed = call ptr @multiple_call(ptr %words, ptr %args, i64 %nargsf, ptr %names)
  %no_sum = icmp eq ptr %summed, null
  br i1 %no_sum, label %ordinarily, label %summed_it
summed_it:
  ret ptr %summed
ordinarily:
  %usual_way = call ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}
