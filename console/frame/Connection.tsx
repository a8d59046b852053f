import { useIsConnected } from '../shared/api/connection.ts'
import { Icon } from '../shared/view/icons.tsx'
import classes from './frame.module.css'

/** Says that the service cannot be reached, for as long as that is so. */
export function Connection() {
  const isConnected = useIsConnected()
  return (
    <div role="status" className={classes.connection} data-lost={!isConnected || undefined}>
      {!isConnected && (
        <>
          <Icon name="alert" size={16} />
          <span>
            The service cannot be reached. What you have entered stays, and goes on by itself when
            it is back.
          </span>
        </>
      )}
    </div>
  )
}
