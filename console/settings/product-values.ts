import type { useForm } from '@mantine/form'
import type { Product } from '../shared/api/types.ts'

const blankIssuer = {
  name: '',
  abn: '',
  address: '',
  phone: '',
  email: '',
  website: '',
  logoDocumentID: null as number | null,
  accentColour: '',
  statementNote: '',
}

/** The form values of a product; empty fields are empty texts, as inputs need them. */
export function valuesOf(product: Product | undefined) {
  const issuer = Object.entries(product?.issuer ?? {}).filter(([, value]) => value !== null)
  return {
    name: product?.name ?? '',
    externalProductId: product?.externalProductId ?? '',
    currencyID: (product?.currencyID ?? 1) as number | null,
    description: product?.description ?? '',
    isActive: product?.isActive ?? true,
    timeZone: product?.timeZone ?? '',
    lockedDate: product?.lockedDate ?? '',
    withholding: product?.withholding ?? false,
    bankDetailCoolOffDays: product?.bankDetailCoolOffDays ?? 0,
    financialYearEnd: product?.financialYearEnd ?? '06-30',
    companyTaxPercentage: product?.companyTaxPercentage ?? '30',
    issuer: { ...blankIssuer, ...Object.fromEntries(issuer) },
  }
}

export type ProductValues = ReturnType<typeof valuesOf>
export type ProductPart = { form: ReturnType<typeof useForm<ProductValues>> }
